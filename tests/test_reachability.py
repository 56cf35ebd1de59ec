"""No drawer that no user opens: every public name is reached from what a user can run.

A walk over the syntax of the sources begins at spiders, stages, commands and settings, at what
these name, and at the modules that ``python -m`` runs. A name that reached code reads reaches what it is;
an attribute reaches each method of its name in the classes that are reached. So it says too much rather than
too little. What only tests, benchmarks or the ``__init__`` of a package name is not reached.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]

# What stays though nothing reaches it, with the reason; at most ten. What it uses in turn needs none.
EXCEPTIONS: dict[str, str] = {
    "archivebot.archive.archive.Archive.segment": "the stages of a crawl in one call, for tests",
    "archivebot.content.model.Model.random": "the weights with which learning begins",
    "archivebot.content.page.read": "the lines of a page, for learning and to measure by",
    "archivebot.content.training": "makes content/weights.json: benchmarks/learn_maintext.py --write",
    "archivebot.fingerprint.features.feature_hash": "the definition that the fast hashes are held to",
    "archivebot.fingerprint.simhash.simhash": "the definition that fingerprints of texts are held to",
    "archivebot.links.graph.parse": "how examples and tests write a graph",
    "archivebot.sample.server.paths": "the files of the sample site, for tests of what a crawl finds",
    "archivebot.segmentation.layout.join": "the inverse that defines what a split may not lose",
}
MOST = 10

# What Scrapy, Twisted, servers and writers of streams call by name, on objects of no class of theirs.
CALLED = frozenset(
    "from_crawler open_spider close_spider process_item process_request process_response process_exception"
    " process_start process_spider_input process_spider_output process_spider_exception"
    " resolveHostName addressResolved writeSequence writelines do_GET do_HEAD"
    " update_pre_crawler_settings".split()
)


@dataclass
class Module:
    """A source file: what it defines at its top, and what its names stand for."""

    name: str
    tree: ast.Module
    package: bool
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)  # local name -> dotted name
    loose: list[ast.stmt] = field(default_factory=list)  # what runs when it is imported
    guards: list[ast.expr] = field(default_factory=list)  # the conditions at its top

    @classmethod
    def read(cls, path: Path) -> Module:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        package = path.name == "__init__.py"
        module = cls(name.removesuffix(".__init__"), ast.parse(path.read_text("utf-8")), package)
        for node in ast.walk(module.tree):
            module._note(node)
        module.guards += [statement.test for statement in module.tree.body if isinstance(statement, ast.If)]
        for statement in _flat(module.tree.body):
            names = list(_defined(statement))
            for defined in names:
                module.definitions.setdefault(defined, []).append(statement)
            if not names and not isinstance(statement, ast.Import | ast.ImportFrom):
                module.loose.append(statement)
        return module

    @property
    def runs(self) -> bool:
        """Whether ``python -m`` runs it."""
        return self.name.endswith("__main__") or any("__main__" in ast.unparse(node) for node in self.guards)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.imported[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self.imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those below IF and TRY as well."""
    for statement in body:
        if isinstance(statement, ast.If | ast.Try):
            inner = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
            yield from _flat(inner)
        else:
            yield statement


def _defined(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id


class Walk:
    """What is reached of the modules: the dotted names of functions, classes, constants and methods."""

    def __init__(self, modules: dict[str, Module]) -> None:
        self.modules = modules
        self.reached: set[str] = set()
        self.attributes: set[str] = set(CALLED)
        self.waiting: dict[str, list[tuple[Module, str, ast.stmt]]] = {}  # methods by name
        self.entered: set[str] = set()
        self.todo: list[tuple[Module, ast.AST]] = []

    def run(self, roots: list[str]) -> None:
        for root in roots:
            module = self.modules[root]
            self.enter(root)
            for name in module.definitions:
                self.reach(f"{root}.{name}")
        while self.todo:
            module, node = self.todo.pop()
            self.look(module, node)

    def enter(self, name: str) -> None:
        """Take in what runs when a module is imported; the exports of a package are no use."""
        if name not in self.entered:
            self.entered.add(name)
            self.todo += [(self.modules[name], node) for node in self.modules[name].loose]

    def reach(self, dotted: str) -> None:
        """Reach what a dotted name stands for, by way of the packages that hand it on."""
        owner, _, name = dotted.rpartition(".")
        module = self.modules.get(owner)
        if dotted in self.modules and not (module and name in module.imported):
            self.enter(dotted)
            return
        if module is None:
            if owner.startswith(("archivebot", "spiders", "pipelines")):
                self.reach(owner)  # an attribute of a class
            return
        if dotted in self.reached:
            return
        self.enter(owner)
        if name in module.definitions:
            self.reached.add(dotted)
            for statement in module.definitions[name]:
                if isinstance(statement, ast.ClassDef):
                    self.open_class(module, statement)
                else:
                    self.todo.append((module, statement))
        elif name in module.imported:
            self.reach(module.imported[name])

    def open_class(self, module: Module, statement: ast.ClassDef) -> None:
        """Take in a class: what it derives from, its fields, and those methods that something calls."""
        for node in (*statement.bases, *statement.keywords, *statement.decorator_list):
            self.todo.append((module, node))
        foreign = self.foreign(module, statement)
        for child in statement.body:
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                self.todo.append((module, child))
                continue
            dotted = f"{module.name}.{statement.name}.{child.name}"
            dunder = child.name.startswith("__")
            if dunder or child.name in self.attributes or child.name in foreign:
                self.reach_method(module, dotted, child)
            else:
                self.waiting.setdefault(child.name, []).append((module, dotted, child))

    def reach_method(self, module: Module, dotted: str, node: ast.stmt) -> None:
        self.reached.add(dotted)
        self.todo.append((module, node))

    def foreign(self, module: Module, statement: ast.ClassDef) -> frozenset[str]:
        """Return the names that the foreign classes have which a class derives from: they may call them."""
        names: set[str] = set()
        for base in statement.bases:
            dotted = self.dotted(module, base.value if isinstance(base, ast.Subscript) else base)
            if dotted is None:
                continue
            found = self.class_of(dotted)
            if found is not None:
                names |= self.foreign(*found)
            elif not dotted.startswith(("archivebot.", "spiders.", "pipelines.")):
                names |= set(dir(_imported(dotted)))
        return frozenset(names)

    def class_of(self, dotted: str) -> tuple[Module, ast.ClassDef] | None:
        """Return the class of ours that a dotted name stands for."""
        owner, _, name = dotted.rpartition(".")
        module = self.modules.get(owner)
        if module is None:
            return None
        for statement in module.definitions.get(name, ()):
            if isinstance(statement, ast.ClassDef):
                return module, statement
        return self.class_of(module.imported[name]) if name in module.imported else None

    def dotted(self, module: Module, node: ast.AST) -> str | None:
        """Return the dotted name that an expression stands for, if it is one."""
        if isinstance(node, ast.Name):
            return module.imported.get(node.id) or (
                f"{module.name}.{node.id}" if node.id in module.definitions else None
            )
        if isinstance(node, ast.Attribute):
            before = self.dotted(module, node.value)
            return f"{before}.{node.attr}" if before else None
        return None

    def look(self, module: Module, node: ast.AST) -> None:
        """Reach what the code below a node names."""
        for child in ast.walk(node):
            if isinstance(child, ast.Name):
                dotted = self.dotted(module, child)
                if dotted:
                    self.reach(dotted)
            elif isinstance(child, ast.Attribute):
                self.use(child.attr)
                dotted = self.dotted(module, child)
                if dotted:
                    self.reach(dotted)
            elif isinstance(child, ast.Import):
                for alias in child.names:
                    self.reach(alias.name)
            elif isinstance(child, ast.Constant) and isinstance(child.value, str):
                self.read(module, child.value)

    def use(self, name: str) -> None:
        """Reach the methods of a name."""
        if name not in self.attributes:
            self.attributes.add(name)
            for module, dotted, statement in self.waiting.pop(name, ()):
                self.reach_method(module, dotted, statement)

    def read(self, module: Module, text: str) -> None:
        """Reach what a text names: a type in quotes, a class of the settings, a method looked up by name."""
        if text.isidentifier():
            if text in module.imported or text in module.definitions:
                self.reach(self.dotted(module, ast.Name(text)) or "")
        elif text.startswith(("archivebot.", "pipelines.")) and all(map(str.isidentifier, text.split("."))):
            self.reach(f"{text}.main" if text in self.modules else text)  # a module is run in a process


def _imported(dotted: str) -> object:
    """Return what a foreign dotted name stands for."""
    owner, _, name = dotted.rpartition(".")
    if not owner:
        return getattr(importlib.import_module("builtins"), name, None)
    return getattr(importlib.import_module(owner), name)


class Project:
    """All modules, where users begin, and the public names that should be reached."""

    @cached_property
    def modules(self) -> dict[str, Module]:
        folders = (ROOT / name for name in ("archivebot", "spiders", "pipelines"))
        found = (Module.read(path) for folder in folders for path in sorted(folder.rglob("*.py")))
        return {module.name: module for module in found}

    @cached_property
    def roots(self) -> list[str]:
        begin = ("spiders", "pipelines", "archivebot.commands", "archivebot.settings")
        return [name for name, module in self.modules.items() if name.startswith(begin) or module.runs]

    def public(self) -> Iterator[str]:
        """Yield the public functions, classes and methods of archivebot."""
        for module in self.modules.values():
            for name, statements in module.definitions.items():
                for statement in statements:
                    if name.startswith("_") or not isinstance(
                        statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
                    ):
                        continue
                    yield f"{module.name}.{name}"
                    for child in statement.body if isinstance(statement, ast.ClassDef) else ():
                        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                        if named and not child.name.startswith("_"):
                            yield f"{module.name}.{name}.{child.name}"


def unreached() -> list[str]:
    """Return the public names that nothing a user runs reaches, nor an exception."""
    project = Project()
    walk = Walk(project.modules)
    walk.run(project.roots)
    found = _outermost(project, walk.reached)
    for name in EXCEPTIONS:
        walk.reach(name)
    walk.run([name for name in EXCEPTIONS if name in project.modules])
    return sorted({*_outermost(project, walk.reached), *EXCEPTIONS.keys() & found})


def _outermost(project: Project, reached: set[str]) -> set[str]:
    """Return what is not reached: modules as a whole, else classes, else functions and methods."""
    public = dict.fromkeys(project.public())
    found = {name for name in public if name not in reached}
    modules = {
        name
        for name in project.modules
        if (inside := [one for one in public if one.rpartition(".")[0] == name]) and found.issuperset(inside)
    }
    return modules | {
        name
        for name in found
        if not {name.rpartition(".")[0], name.rpartition(".")[0].rpartition(".")[0]} & (modules | found)
    }


def test_every_public_name_is_reached_from_what_a_user_runs() -> None:
    assert set(unreached()) == set(EXCEPTIONS)


def test_the_exceptions_are_few_and_have_reasons() -> None:
    assert len(EXCEPTIONS) <= MOST
    assert all(EXCEPTIONS.values())
