"""The org's error responses."""


class Refusal(Exception):
    """A response without success: a status, a code, a message and the affected fields."""

    def __init__(self, status, code, message, fields=()):
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.fields = list(fields)

    def of_resource(self):
        """The form of a single resource."""
        fault = {"message": self.message, "errorCode": self.code}
        return [fault | {"fields": self.fields}] if self.fields else [fault]

    def of_row(self):
        """The form of a row in a collection."""
        return {"statusCode": self.code, "message": self.message, "fields": self.fields}
