/// Files that belong to records.
enum FileObjects {
  static var all: [ObjectSchema] { [attachment] }

  private static let attachment = ObjectSchema(
    "Attachment", label: "Attachment", plural: "Attachments", prefix: "00P",
    sharing: .privateToOwner,
    fields: FieldSchema.identity + [
      FieldSchema.lookup(
        "ParentId", "Parent ID",
        ["Account", "Case", "Contact", "Event", "Lead", "Opportunity", "Task", "WorkOrder"],
        "Parent", children: "Attachments"
      ).required.cascading,
      FieldSchema.text("Name", "File Name", 255).required.naming,
      .flag("IsPrivate", "Private"),
      .text("ContentType", "Content Type", 120),
      FieldSchema.whole("BodyLength", "Body Length", digits: 9).readOnly,
      FieldSchema.kind(.base64, "Body", "Body").required,
      .owner(),
    ] + FieldSchema.audit + [.kind(.textarea, "Description", "Description", 500)])
}
