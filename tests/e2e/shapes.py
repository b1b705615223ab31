"""Whether what the daemon answers is what its OpenAPI document says.

Every answer that `Daemon.ask` gets is checked: the route, its query, its status and the shape of the
body; and so is every event of a stream. Members that the schema does not name count as mistakes, too: a document that leaves things out
is not true either. A keyword that is not known here is one, so nothing passes unread.
"""
import json
import re
import urllib.parse

WORDS = {"$ref", "type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "allOf",
         "additionalProperties", "pattern", "format", "minimum", "maximum", "minLength", "maxLength", "minItems",
         "maxItems", "description", "title", "default", "examples"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
# Times are answered in one form, and taken in any of RFC 3339.
ANSWERED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
TAKEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")


class Wrong(AssertionError):
    pass


def is_type(value, name):
    if name in ("integer", "number"):
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return not isinstance(value, bool) and isinstance(value, (int, float)) and (name == "number" or whole)
    return isinstance(value, TYPES[name])


class Document:
    def __init__(self, text):
        self.root = json.loads(text)
        self.times = ANSWERED
        self.routes = [(re.compile(re.sub(r"\\{\w+\\}", self.hole(path), re.escape(path)) + "$"), path)
                       for path in self.root["paths"]]
        # A path without holes is meant before one with.
        self.routes.sort(key=lambda route: (route[1].count("{"), -len(route[1])))

    @staticmethod
    def hole(path):
        return "(.+)" if re.search(r"\{path\}$", path) else "([^/]+)"

    def find(self, method, path):
        for pattern, route in self.routes:
            if pattern.match(path) and method.lower() in self.root["paths"][route]:
                return route, self.root["paths"][route][method.lower()]
        return None, None

    def schema(self, ref):
        at = self.root
        for part in ref.removeprefix("#/").split("/"):
            at = at[part]
        return at

    # ---- one value ----

    def fits(self, schema, value, at):
        try:
            self.check(schema, value, at, True)
            return True
        except Wrong:
            return False

    def named(self, schema):
        """The members that a schema names, and whether others may stand beside them."""
        names, free = set(schema.get("properties", {})), schema.get("additionalProperties", False) is not False
        for part in [*schema.get("allOf", []), *schema.get("anyOf", []), *schema.get("oneOf", []),
                     *([self.schema(schema["$ref"])] if "$ref" in schema else [])]:
            more, freely = self.named(part)
            names, free = names | more, free or freely
        return names, free

    def check(self, schema, value, at, inside=False):
        if schema is True or not schema:
            return
        unknown = set(schema) - WORDS
        if unknown:
            raise Wrong(f"{at}: the schema has {sorted(unknown)}, which nobody checks")
        self.scalar(schema, value, at)
        if "$ref" in schema:
            self.check(self.schema(schema["$ref"]), value, at, True)
        for part in schema.get("allOf", []):
            self.check(part, value, at, True)
        for word in ("anyOf", "oneOf"):
            if word in schema and not any(self.fits(part, value, at) for part in schema[word]):
                raise Wrong(f"{at}: {value!r:.200} is nothing of {word}")
        if isinstance(value, dict):
            self.members(schema, value, at, inside)
        if isinstance(value, list) and "items" in schema:
            for i, one in enumerate(value):
                self.check(schema["items"], one, f"{at}/{i}")

    def members(self, schema, value, at, inside):
        missing = set(schema.get("required", [])) - set(value)
        if missing:
            raise Wrong(f"{at}: {sorted(missing)} must be there, in {value!r:.300}")
        names, free = self.named(schema)
        other = set(value) - names
        if other and not free and names and not inside:
            raise Wrong(f"{at}: {sorted(other)} are not in the document")
        for name, one in value.items():
            if name in schema.get("properties", {}):
                self.check(schema["properties"][name], one, f"{at}/{name}")
            elif isinstance(schema.get("additionalProperties"), dict):
                self.check(schema["additionalProperties"], one, f"{at}/{name}")

    def scalar(self, schema, value, at):
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(is_type(value, name) for name in types):
            raise Wrong(f"{at}: {value!r:.200} is not of {types}")
        if "enum" in schema and value not in schema["enum"]:
            raise Wrong(f"{at}: {value!r:.200} is none of {schema['enum']}")
        if "const" in schema and value != schema["const"]:
            raise Wrong(f"{at}: {value!r:.200} is not {schema['const']!r}")
        if isinstance(value, str):
            if "pattern" in schema and not re.search(schema["pattern"], value):
                raise Wrong(f"{at}: {value!r:.200} does not match {schema['pattern']}")
            if schema.get("format") == "date-time" and not self.times.match(value):
                raise Wrong(f"{at}: {value!r:.200} is no time of the interface")
            if len(value) > schema.get("maxLength", len(value)) or len(value) < schema.get("minLength", 0):
                raise Wrong(f"{at}: {len(value)} characters")
        if is_type(value, "number") and not (schema.get("minimum", value) <= value <= schema.get("maximum", value)):
            raise Wrong(f"{at}: {value!r} is out of range")

    # ---- one answer ----

    def event(self, event):
        """An event of a run; of the activity, which says that something has changed."""
        name = "Event" if "runId" in event and "seq" in event else "Activity"
        self.check({"$ref": f"#/components/schemas/{name}"}, event, f"event {event.get('type')}")

    def answer(self, method, target, status, kind, text, asked=None):
        """Raises when the document does not say that this may be answered to that."""
        parts = urllib.parse.urlsplit(target)
        route, operation = self.find(method, parts.path)
        if status in (404, 405) and not operation:
            return
        if not operation:
            raise Wrong(f"{method} {parts.path} is answered with {status}, and in no document")
        at = f"{method} {route} {status}"
        if status < 400:
            named = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
            unknown = {name for name, _ in urllib.parse.parse_qsl(parts.query, True)} - named
            if unknown:
                raise Wrong(f"{at}: the query {sorted(unknown)} is not in the document")
            if asked is not None:
                self.taken(operation, asked, at)
        response = operation["responses"].get(str(status))
        if not response and status < 400:
            raise Wrong(f"{at}: the document has {sorted(operation['responses'])}")
        response = response or operation["responses"]["default"]
        if "$ref" in response:
            response = self.schema(response["$ref"])
        content = response.get("content", {})
        if not content:
            if text:
                raise Wrong(f"{at}: a body, and none in the document")
            return
        kind = kind.split(";")[0].strip()
        media = content.get(kind, content.get("*/*"))
        if media is None:
            raise Wrong(f"{at}: {kind}, the document has {sorted(content)}")
        if kind == "application/json" and "schema" in media:
            self.check(media["schema"], json.loads(text), at)

    def taken(self, operation, body, at):
        content = operation.get("requestBody", {}).get("content", {})
        if not content and body:
            raise Wrong(f"{at}: took a body, and the document has none")
        if "application/json" in content:
            self.times = TAKEN
            self.check(content["application/json"]["schema"], body, at + " took")
            self.times = ANSWERED
