"""The stubs name what there is, with the arguments that there are."""
import ast
import pathlib

import pytest
import tutti

FOLDER = pathlib.Path(tutti.__file__).parent
STUBS = FOLDER / "__init__.pyi"


def test_names_and_arguments():
    tree = ast.parse(STUBS.read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    plain = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    exported = {name for name in tutti.__all__ if not name.endswith("Error")}
    assert exported <= {*classes, *functions, *plain}
    for name, node in classes.items():
        if name == "InPlace":
            continue
        real = getattr(tutti, name)
        stubbed = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
        public = {attribute for attribute in vars(real) if not attribute.startswith("_")}
        assert public == {method for method in stubbed if not method.startswith("_")}, name
        for method in public:
            signature = (getattr(real, method).__doc__ or "").split("\n")[0]
            if not signature.startswith(method + "("):
                continue  # a property
            for argument in stubbed[method].args.args:
                assert argument.arg in signature, (name, method, argument.arg)


@pytest.mark.parametrize("module", ["schedule", "mpi4py"])
def test_modules_without_stubs_have_types(module):
    """Of all that programs call, so that those with strict types may call it."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text())
    bodies = [tree.body] + [node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
    functions = [node for body in bodies for node in body if isinstance(node, ast.FunctionDef)]
    public = [node for node in functions if not node.name.startswith("_") or node.name in ("__init__", "__call__", "__getattr__")]
    assert len(public) > 10
    for node in public:
        arguments = node.args.args + node.args.kwonlyargs
        assert node.returns and all(each.annotation for each in arguments if each.arg != "self"), node.name
