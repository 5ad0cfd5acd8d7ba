"""The objects of the org and their fields, with their descriptions."""

SOAP = {
    "id": "tns:ID", "reference": "tns:ID", "boolean": "xsd:boolean", "int": "xsd:int", "double": "xsd:double",
    "currency": "xsd:double", "percent": "xsd:double", "date": "xsd:date", "datetime": "xsd:dateTime",
    "time": "xsd:time",
}
LENGTHS = {"string": 255, "textarea": 32000, "phone": 40, "email": 80, "url": 255, "picklist": 40, "id": 18,
           "reference": 18}
SYSTEM = [
    {"name": "Id", "type": "id"},
    {"name": "IsDeleted", "type": "boolean"},
    {"name": "OwnerId", "type": "reference", "to": "User", "createable": True, "updateable": True},
    {"name": "CreatedDate", "type": "datetime"},
    {"name": "CreatedById", "type": "reference", "to": "User"},
    {"name": "LastModifiedDate", "type": "datetime"},
    {"name": "LastModifiedById", "type": "reference", "to": "User"},
    {"name": "SystemModstamp", "type": "datetime"},
]


class Field:
    """A field: its line in the data file, with defaults for the rest."""

    def __init__(self, line, is_system=False):
        self.name = line["name"]
        self.type = line.get("type", "string")
        self.length = line.get("length", LENGTHS.get(self.type, 0))
        self.to = line.get("to")
        # Further objects that it may refer to; the org has no records of them.
        self.others = line.get("others", [])
        self.children = line.get("children")
        self.values = line.get("values")
        self.is_required = line.get("required", False)
        self.is_external = line.get("external", False)
        self.is_auto = line.get("auto")
        is_given = not is_system and not self.is_auto
        self.is_createable = line.get("createable", is_given)
        self.is_updateable = line.get("updateable", is_given)

    @property
    def relationship(self):
        """The relationship name: AccountId uses Account, Account__c uses Account__r."""
        if not self.to:
            return None
        return self.name[:-3] + "__r" if self.name.endswith("__c") else self.name.removesuffix("Id")

    @property
    def is_filterable(self):
        return not (self.type == "textarea" and self.length > 255)

    def described(self):
        return {
            "name": self.name, "label": self.name, "type": self.type, "length": self.length,
            "soapType": SOAP.get(self.type, "xsd:string"), "createable": self.is_createable,
            "updateable": self.is_updateable, "nillable": not self.is_required and self.type != "boolean",
            "defaultedOnCreate": bool(self.is_auto) or self.type == "boolean" or self.name == "OwnerId",
            "externalId": self.is_external, "idLookup": self.is_external or self.type == "id",
            "unique": self.is_external, "calculated": False, "autoNumber": bool(self.is_auto),
            "filterable": self.is_filterable, "sortable": self.is_filterable, "compoundFieldName": None,
            "referenceTo": [*self.others, self.to] if self.to else [], "relationshipName": self.relationship,
            "restrictedPicklist": bool(self.values), "encrypted": False, "extraTypeInfo": None,
            "picklistValues": [{"active": True, "label": value, "value": value} for value in self.values or []],
        }


class Object:
    """An object: its name, the prefix of its IDs, and its fields by lower-case name."""

    def __init__(self, line):
        self.name = line["name"]
        self.prefix = line["prefix"]
        self.is_setup = line.get("setup", False)
        self.rules = line.get("rules", [])
        system = [SYSTEM[0], *SYSTEM[3:]] if self.is_setup else SYSTEM
        if line.get("queues"):
            system = [one | {"others": ["Group"]} if one["name"] == "OwnerId" else one for one in system]
        fields = [Field(one, True) for one in system] + [Field(one) for one in line["fields"]]
        self.fields = {field.name.lower(): field for field in fields}

    def field(self, name):
        return self.fields.get(name.lower())


class Catalog:
    """All objects."""

    def __init__(self, lines):
        self.objects = {line["name"].lower(): Object(line) for line in lines}
        # The type of what a reference to several objects refers to.
        self.type = Field({"name": "Type"}, True)

    def object(self, name):
        return self.objects.get(name.lower())

    def of_prefix(self, identifier):
        return next((one for one in self.objects.values() if one.prefix == identifier[:3]), None)

    def children(self, parent):
        """The fields that refer to an object, each with its own object."""
        return [
            (child, field) for child in self.objects.values() for field in child.fields.values()
            if field.to == parent.name
        ]

    def summary(self, one, version):
        base = f"/services/data/v{version}/sobjects/{one.name}"
        return {
            "name": one.name, "label": one.name, "labelPlural": one.name + "s", "keyPrefix": one.prefix,
            "custom": one.name.endswith("__c"), "createable": not one.is_setup, "updateable": not one.is_setup,
            "deletable": not one.is_setup, "queryable": True, "retrieveable": True, "undeletable": not one.is_setup,
            "urls": {"sobject": base, "describe": base + "/describe", "rowTemplate": base + "/{ID}"},
        }

    def described(self, one, version):
        relations = [
            {"childSObject": child.name, "field": field.name, "relationshipName": field.children,
             "cascadeDelete": False, "deprecatedAndHidden": False}
            for child, field in self.children(one)
        ]
        return self.summary(one, version) | {
            "fields": [field.described() for field in one.fields.values()], "childRelationships": relations,
            "recordTypeInfos": [], "supportedScopes": [{"label": "All", "name": "everything"}],
        }
