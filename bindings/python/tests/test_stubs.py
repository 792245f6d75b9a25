"""The stubs name what there is, with the arguments that there are."""
import ast
import pathlib

import tutti

STUBS = pathlib.Path(tutti.__file__).with_name("__init__.pyi")


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
