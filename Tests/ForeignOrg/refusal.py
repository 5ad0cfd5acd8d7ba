"""What the org says no with."""


class Refusal(Exception):
    """An answer that is no success: a status, a code, words and the fields that they are about."""

    def __init__(self, status, code, message, fields=()):
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.fields = list(fields)

    def of_resource(self):
        """As a resource of its own says it."""
        fault = {"message": self.message, "errorCode": self.code}
        return [fault | {"fields": self.fields}] if self.fields else [fault]

    def of_row(self):
        """As the row of a collection says it."""
        return {"statusCode": self.code, "message": self.message, "fields": self.fields}
