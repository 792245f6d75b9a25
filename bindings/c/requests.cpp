// Requests and plans in C.
#include <chrono>

#include "bindings/c/handles.hpp"

using namespace tutti::c;

namespace {

tutti::Request& pending(const Site& site, tutti_request* request) {
  return object_of(site, "request", site.pointed("request", request), "a request that has not been completed or freed")
      .request;
}

void complete(tutti_request& request) {
  delete request;
  request = nullptr;
}

std::chrono::duration<double> duration_of(const Site& site, double seconds) {
  if (!(seconds >= 0)) site.refuse("seconds", std::to_string(seconds), "0 and more");
  return std::chrono::duration<double>{seconds};
}

}  // namespace

tutti_status tutti_request_wait(tutti_request* request) {
  return guarded([&](const Site& site) {
    pending(site, request).wait();
    complete(*request);
  });
}

tutti_status tutti_request_test(tutti_request* request, int* is_complete) {
  return guarded([&](const Site& site) {
    int& answer = site.pointed("is_complete", is_complete);
    answer = pending(site, request).test() ? 1 : 0;
    if (answer != 0) complete(*request);
  });
}

tutti_status tutti_request_wait_for(tutti_request* request, double seconds, int* is_complete) {
  return guarded([&](const Site& site) {
    int& answer = site.pointed("is_complete", is_complete);
    answer = pending(site, request).wait_for(duration_of(site, seconds)) ? 1 : 0;
    if (answer != 0) complete(*request);
  });
}

tutti_status tutti_request_cancel(tutti_request* request, int* is_cancelled) {
  return guarded([&](const Site& site) {
    int& answer = site.pointed("is_cancelled", is_cancelled);
    answer = pending(site, request).cancel() ? 1 : 0;
    if (answer != 0) complete(*request);
  });
}

tutti_status tutti_request_free(tutti_request* request) { return freed("request", request); }

tutti_status tutti_plan_start(tutti_plan plan) {
  return guarded([&](const Site& site) { plan_of(site, plan).start(); });
}

tutti_status tutti_plan_wait(tutti_plan plan) {
  return guarded([&](const Site& site) { plan_of(site, plan).wait(); });
}

tutti_status tutti_plan_test(tutti_plan plan, int* is_complete) {
  return guarded([&](const Site& site) {
    int& answer = site.pointed("is_complete", is_complete);
    answer = plan_of(site, plan).test() ? 1 : 0;
  });
}

tutti_status tutti_plan_wait_for(tutti_plan plan, double seconds, int* is_complete) {
  return guarded([&](const Site& site) {
    int& answer = site.pointed("is_complete", is_complete);
    answer = plan_of(site, plan).wait_for(duration_of(site, seconds)) ? 1 : 0;
  });
}

tutti_status tutti_plan_algorithm(tutti_plan plan, const char** name) {
  return guarded([&](const Site& site) {
    const char*& place = site.pointed("name", name);
    plan->algorithm = plan_of(site, plan).algorithm();
    place = plan->algorithm.c_str();
  });
}

tutti_status tutti_plan_explain(tutti_plan plan, const char** text) {
  return guarded([&](const Site& site) {
    const char*& place = site.pointed("text", text);
    plan->explanation = plan_of(site, plan).explain();
    place = plan->explanation.c_str();
  });
}

tutti_status tutti_plan_free(tutti_plan* plan) { return freed("plan", plan); }
