#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the API's document against that of a release: what worked with the release must work with it (docs/rpc.md, "Versions").

    check_api.py [ROOT]            docs/rpc/openrpc.json against the newest of docs/rpc/released/
    check_api.py --compare OLD NEW two documents
    check_api.py --self-test       made-up changes, each of which must be judged as it is

A parameter is what a client gives: it may be allowed more. A result is what a client gets: it may have more members, and lists
of names (states, kinds of events) may grow, but nothing that was promised may be gone or be of another type.
"""
import copy
import json
import pathlib
import re
import sys

GIVEN, GOT = "parameter", "result"


class Comparison:
    def __init__(self, old, new):
        self.old, self.new, self.problems, self.seen = old, new, [], set()

    def problem(self, place, text):
        self.problems.append(f"{place}: {text}")

    def resolve(self, document, schema):
        """The schema that is meant, with the name of its shape if it has one."""
        name = None
        while "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            schema = document["components"]["schemas"][name]
        return schema if name is None else {**schema, "shape": name}

    def alternatives(self, document, schema):
        """The schemas of which one holds, none of them a choice itself."""
        schema = self.resolve(document, schema)
        if "anyOf" in schema:
            return [found for inner in schema["anyOf"] for found in self.alternatives(document, inner)]
        if isinstance(schema.get("type"), list):
            return [{**schema, "type": kind} for kind in schema["type"]]
        return [schema]

    def methods(self):
        new = {method["name"]: method for method in self.new["methods"]}
        for method in self.old["methods"]:
            name = method["name"]
            if name not in new:
                self.problem(name, "the method is gone")
                continue
            self.parameters(name, method, new[name])
            self.schema(f"{name} result", GOT, method["result"]["schema"], new[name]["result"]["schema"])
        codes = {error["message"]: error["code"] for method in self.new["methods"] for error in method.get("errors", [])}
        for method in self.old["methods"]:
            for error in method.get("errors", []):
                if codes.get(error["message"], error["code"]) != error["code"]:
                    self.problem(error["message"], f"the error's code was {error['code']} and is {codes.pop(error['message'])}")

    def parameters(self, name, old, new):
        was, now = ({parameter["name"]: parameter for parameter in method["params"]} for method in (old, new))
        for parameter, given in was.items():
            if parameter not in now:
                self.problem(f"{name}.{parameter}", "the parameter is gone")
                continue
            if now[parameter].get("required") and not given.get("required"):
                self.problem(f"{name}.{parameter}", "the parameter was optional and is required")
            self.schema(f"{name}.{parameter}", GIVEN, given["schema"], now[parameter]["schema"])
        for parameter in sorted(now.keys() - was.keys()):
            if now[parameter].get("required"):
                self.problem(f"{name}.{parameter}", "a new parameter is required")

    def schema(self, place, way, old, new):
        pair = (way, json.dumps(old, sort_keys=True), json.dumps(new, sort_keys=True))
        if pair in self.seen:  # shapes may refer to themselves, and many places to one shape
            return
        self.seen.add(pair)
        was, now = self.alternatives(self.old, old), self.alternatives(self.new, new)
        types_was, types_now = ({kind.get("type", "anything") for kind in kinds} for kinds in (was, now))
        if types_was - types_now:
            self.problem(place, f"the {way} had the type {', '.join(sorted(types_was - types_now))}, which is gone")
        if way == GOT and types_now - types_was:
            self.problem(place, f"the {way} may have a new type: {', '.join(sorted(types_now - types_was))}")
        for kind in was:
            match = self.counterpart(kind, now)
            if match is not None:
                self.one(place, way, kind, match)
            elif kind.get("type") in types_now:
                self.problem(place, f"one shape of the {way} is gone: {json.dumps(kind, sort_keys=True)[:120]}")

    @staticmethod
    def tag(kind):
        """What tells shapes of one type apart: the constant members of an object, and the pattern of a text."""
        constants = {name: inner["const"] for name, inner in kind.get("properties", {}).items() if "const" in inner}
        return json.dumps([constants, kind.get("pattern") if kind.get("type") == "string" else None], sort_keys=True)

    def counterpart(self, kind, among):
        """What stands for `kind` in the new document: by its constants, then by its name, then what has most of its members."""
        same_type = [other for other in among if other.get("type") == kind.get("type")]
        alike = [other for other in same_type if self.tag(other) == self.tag(kind)]
        if not alike:
            return same_type[0] if len(same_type) == 1 and "{}" in self.tag(kind) else None
        named = [other for other in alike if other.get("shape", "") == kind.get("shape")]
        return (named or sorted(alike, key=lambda other: -len(other.get("properties", {}).keys() & kind.get("properties", {}).keys())))[0]

    def one(self, place, way, old, new):
        if old.get("pattern") != new.get("pattern") and not (way == GIVEN and "pattern" not in new):
            self.problem(place, f"the pattern of the {way} was {old.get('pattern')} and is {new.get('pattern')}")
        if "const" in old and old["const"] != new.get("const"):
            self.problem(place, f"the {way} was always {old['const']!r}")
        if "enum" in old:
            if "enum" in new and set(old["enum"]) - set(new["enum"]):
                self.problem(place, f"{', '.join(sorted(set(old['enum']) - set(new['enum'])))} is gone from the words of the {way}")
            if way == GOT and "enum" not in new:
                self.problem(place, f"the {way} was one of some words and may be any text")
        elif "enum" in new and way == GIVEN:
            self.problem(place, f"the {way} may be only one of some words now")
        self.bounds(place, way, old, new)
        if "items" in old:
            self.schema(place + "[]", way, old["items"], new.get("items", {}))
        self.members(place, way, old, new)

    def bounds(self, place, way, old, new):
        narrow, wide = ((new, old) if way == GIVEN else (old, new))
        for bound, worse in (("minimum", lambda a, b: a > b), ("maximum", lambda a, b: a < b)):
            if bound in narrow and (bound not in wide or worse(narrow[bound], wide[bound])):
                self.problem(place, f"the {bound} of the {way} was {old.get(bound, 'none')} and is {new.get(bound, 'none')}")

    def members(self, place, way, old, new):
        was, now = old.get("properties", {}), new.get("properties", {})
        required_was, required_now = set(old.get("required", [])), set(new.get("required", []))
        for member, inner in was.items():
            if member not in now:
                self.problem(f"{place}.{member}", f"the member of the {way} is gone")
                continue
            if way == GOT and member in required_was - required_now:
                self.problem(f"{place}.{member}", "the member was always there and may be missing")
            if way == GIVEN and member in required_now - required_was:
                self.problem(f"{place}.{member}", "the member was optional and is required")
            self.schema(f"{place}.{member}", way, inner, now[member])
        for member in sorted((now.keys() - was.keys()) & required_now):
            if way == GIVEN:
                self.problem(f"{place}.{member}", "a new member is required")


def compare(old, new):
    comparison = Comparison(old, new)
    comparison.methods()
    return comparison.problems


def newest(folder):
    files = [file for file in folder.glob("*.json") if re.fullmatch(r"\d+\.\d+", file.stem)]
    return max(files, key=lambda file: [int(part) for part in file.stem.split(".")], default=None)


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def made_up():
    hash_ = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}, "required": ["children"]}
    event = {"anyOf": [{"type": "object", "properties": {"event": {"const": name, "type": "string"}, "index": {"type": "integer"}},
                        "required": ["event", "index"]} for name in ("paid", "slashed")]}
    result = {"type": "object", "properties": {
        "id": {"$ref": "#/components/schemas/Hash"}, "state": {"type": "string", "enum": ["open", "settled"]},
        "solver": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "count": {"type": "integer", "minimum": 0},
        "tree": {"$ref": "#/components/schemas/Tree"}, "events": {"type": "array", "items": event},
        "either": {"anyOf": [{"$ref": "#/components/schemas/Left"}, {"$ref": "#/components/schemas/Right"}]}},
        "required": ["id", "state", "solver", "count", "tree", "events"]}
    method = {"name": "task_get", "params": [
        {"name": "task", "required": True, "schema": {"$ref": "#/components/schemas/Hash"}},
        {"name": "order", "required": False, "schema": {"type": "string", "enum": ["oldest", "newest"]}},
        {"name": "limit", "required": False, "schema": {"type": "integer", "minimum": 1, "maximum": 100}},
        {"name": "stake", "required": False, "schema": {"type": "object", "properties": {"role": {"type": "string"}, "account": {"type": "string"}},
                                                        "required": ["role"]}}],
        "result": {"name": "result", "schema": result}, "errors": [{"code": -32001, "message": "not_found"}]}
    return {"methods": [method], "components": {"schemas": {
        "Hash": hash_, "Tree": tree, **{name: {"type": "object", "properties": {member: {"type": "string"} for member in of}}
                                        for name, of in (("Left", "ab"), ("Right", "ac"))}}}}


def method(document):
    return document["methods"][0]


def members(document):
    return method(document)["result"]["schema"]["properties"]


def parameter(document, index):
    return method(document)["params"][index]


def shapes(document):
    return document["components"]["schemas"]


def rename(mapping, name):
    mapping["renamed"] = mapping.pop(name)


def self_test():
    """(what is changed, how, what must be said; None: nothing)"""
    cases = [
        ("nothing", lambda d: None, None),
        ("a new method", lambda d: d["methods"].append({**copy.deepcopy(method(d)), "name": "task_new"}), None),
        ("a new optional parameter", lambda d: method(d)["params"].append({"name": "more", "required": False, "schema": {"type": "string"}}), None),
        ("a new member of a result", lambda d: members(d).update(more={"type": "string"}), None),
        ("a new word in a result", lambda d: members(d)["state"]["enum"].append("convicted"), None),
        ("a new word of a parameter", lambda d: parameter(d, 1)["schema"]["enum"].append("largest"), None),
        ("a parameter that takes more", lambda d: parameter(d, 2)["schema"].update(maximum=200), None),
        ("a parameter that is not required any more", lambda d: parameter(d, 0).update(required=False), None),
        ("a parameter of one more type", lambda d: parameter(d, 1).update(schema={"anyOf": [parameter(d, 1)["schema"], {"type": "integer"}]}), None),
        ("a new kind of event", lambda d: members(d)["events"]["items"]["anyOf"].append(
            {"type": "object", "properties": {"event": {"const": "cut", "type": "string"}}, "required": ["event"]}), None),
        ("a shape under another name", lambda d: (rename(shapes(d), "Hash"), members(d)["id"].update({"$ref": "#/components/schemas/renamed"}),
                                                  parameter(d, 0)["schema"].update({"$ref": "#/components/schemas/renamed"})), None),
        ("other words in a description", lambda d: members(d)["count"].update(description="how many"), None),
        ("a method is gone", lambda d: d["methods"].clear(), "task_get: the method is gone"),
        ("a method has another name", lambda d: method(d).update(name="task_show"), "task_get: the method is gone"),
        ("a parameter is gone", lambda d: method(d)["params"].pop(1), "task_get.order: the parameter is gone"),
        ("a parameter has another name", lambda d: parameter(d, 1).update(name="sort"), "task_get.order: the parameter is gone"),
        ("a new required parameter", lambda d: method(d)["params"].append({"name": "more", "required": True, "schema": {"type": "string"}}),
         "task_get.more: a new parameter is required"),
        ("a parameter becomes required", lambda d: parameter(d, 2).update(required=True), "task_get.limit: the parameter was optional"),
        ("a parameter of another type", lambda d: parameter(d, 2).update(schema={"type": "string"}), "task_get.limit: the parameter had the type integer"),
        ("a parameter that takes less", lambda d: parameter(d, 2)["schema"].update(maximum=50), "task_get.limit: the maximum"),
        ("a parameter that takes a new bound", lambda d: parameter(d, 2)["schema"].update(minimum=2), "task_get.limit: the minimum"),
        ("a word of a parameter is gone", lambda d: parameter(d, 1)["schema"]["enum"].pop(), "newest is gone from the words"),
        ("a new required member of a parameter", lambda d: (parameter(d, 3)["schema"]["properties"].update(more={"type": "string"}),
                                                            parameter(d, 3)["schema"]["required"].append("more")), "task_get.stake.more: a new member"),
        ("a member of a parameter becomes required", lambda d: parameter(d, 3)["schema"]["required"].append("account"), "task_get.stake.account: the member"),
        ("a member of a result is gone", lambda d: members(d).pop("count"), "task_get result.count: the member of the result is gone"),
        ("a member of a result has another name", lambda d: rename(members(d), "count"), "task_get result.count: the member of the result is gone"),
        ("a member of a result may be missing", lambda d: method(d)["result"]["schema"]["required"].remove("count"), "task_get result.count: the member was"),
        ("a member of a result of another type", lambda d: members(d).update(count={"type": "string"}), "task_get result.count: the result had the type integer"),
        ("a member of a result may be null", lambda d: members(d).update(count={"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}),
         "task_get result.count: the result may have a new type: null"),
        ("a member of a result may be negative", lambda d: members(d)["count"].pop("minimum"), "task_get result.count: the minimum"),
        ("a word in a result is gone", lambda d: members(d)["state"]["enum"].pop(), "settled is gone from the words"),
        ("words in a result become any text", lambda d: members(d)["state"].pop("enum"), "task_get result.state: the result was one of some words"),
        ("an id with another pattern", lambda d: shapes(d)["Hash"].update(pattern="^[0-9A-F]{64}$"), "the pattern of the"),
        ("a shape within itself changes", lambda d: shapes(d)["Tree"]["properties"].clear(), "task_get result.tree.children: the member"),
        ("a kind of event is gone", lambda d: members(d)["events"]["items"]["anyOf"].pop(), "task_get result.events[]: one shape of the result is gone"),
        ("a member of one kind of event is gone", lambda d: members(d)["events"]["items"]["anyOf"][1]["properties"].pop("index"),
         "task_get result.events[].index: the member"),
        ("two shapes that nothing tells apart change places", lambda d: members(d)["either"]["anyOf"].reverse(), None),
        ("a member of one of them is gone", lambda d: shapes(d)["Left"]["properties"].pop("b"), "task_get result.either.b: the member"),
        ("an error has another code", lambda d: method(d)["errors"][0].update(code=-32009), "not_found: the error's code was -32001"),
    ]
    failures = 0
    for name, change, expected in cases:
        old, new = made_up(), made_up()
        change(new)
        problems = compare(old, new)
        if (problems != []) if expected is None else not any(expected in problem for problem in problems):
            failures += 1
            print(f"FAILED: {name}: {problems}, and {expected or 'nothing'} was to be said")
    print(f"{len(cases)} made-up changes, {failures} judged wrongly")
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    if arguments[:1] == ["--compare"]:
        old, new = map(pathlib.Path, arguments[1:])
    else:
        root = pathlib.Path(arguments[0] if arguments else ".") / "docs/rpc"
        old, new = newest(root / "released"), root / "openrpc.json"
        if old is None:
            print("docs/rpc/released has no document of a release")
            return 1
    problems = compare(read(old), read(new))
    for problem in problems:
        print(f"{new} breaks what {old} promised: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
