/// The business objects of an org.
enum BusinessObjects {
  static var all: [ObjectSchema] { [account, contact, opportunity, product, task] }

  private static let masterRecord: FieldSchema = {
    var field = FieldSchema.lookup("MasterRecordId", "Master Record ID", [], "MasterRecord")
      .readOnly
    field.defaultedOnCreate = false
    return field
  }()

  static func merged(into object: String) -> FieldSchema {
    var field = masterRecord
    field.referenceTo = [object]
    return field
  }

  static let recordType = FieldSchema.lookup(
    "RecordTypeId", "Record Type ID", ["RecordType"], "RecordType")

  /// The administrator's external ID, for upserts.
  private static let externalID = FieldSchema.text("External_Id__c", "External Id", 64)
    .uniqueExternalID.ofTheAdministrator

  private static let account = ObjectSchema(
    "Account", label: "Account", plural: "Accounts", prefix: "001", sharing: .privateToOwner,
    fields: FieldSchema.identity + [
      merged(into: "Account"),
      .text("Name", "Account Name", 255).required.naming,
      .choice("Type", "Account Type", ["Prospect", "Customer", "Partner"]),
      recordType,
      .lookup("ParentId", "Parent Account ID", ["Account"], "Parent", children: "ChildAccounts"),
    ] + FieldSchema.address("Billing", "Billing") + FieldSchema.address("Shipping", "Shipping") + [
      .kind(.phone, "Phone", "Account Phone", 40),
      .kind(.phone, "Fax", "Account Fax", 40),
      .text("AccountNumber", "Account Number", 40),
      .kind(.url, "Website", "Website", 255),
      .text("Sic", "SIC Code", 20),
      .choice("Industry", "Industry", ["Agriculture", "Construction", "Energy", "Retail"]),
      .decimal(.currency, "AnnualRevenue", "Annual Revenue", 18, 0),
      .whole("NumberOfEmployees", "Employees", digits: 8),
      .kind(.textarea, "Description", "Account Description", 32000),
      .choice("Rating", "Account Rating", ["Hot", "Warm", "Cold"]),
      .text("Site", "Account Site", 80),
      .owner(),
    ] + StandardFields.account + FieldSchema.audit + [externalID])

  private static let contactName: FieldSchema = {
    var field = FieldSchema.text("Name", "Full Name", 121).readOnly.naming
    field.nillable = false
    return field
  }()

  private static func namePart(_ field: FieldSchema) -> FieldSchema {
    var part = field
    part.compoundFieldName = "Name"
    return part
  }

  private static let contact = ObjectSchema(
    "Contact", label: "Contact", plural: "Contacts", prefix: "003", sharing: .privateToOwner,
    fields: FieldSchema.identity + [
      merged(into: "Contact"),
      FieldSchema.lookup(
        "AccountId", "Account ID", ["Account"], "Account", children: "Contacts"
      ).cascading,
      namePart(.text("LastName", "Last Name", 80).required),
      namePart(.text("FirstName", "First Name", 40)),
      namePart(.choice("Salutation", "Salutation", ["Mr.", "Ms.", "Mrs.", "Dr.", "Mx."])),
      contactName,
    ] + FieldSchema.address("Other", "Other") + FieldSchema.address("Mailing", "Mailing") + [
      .kind(.phone, "Phone", "Business Phone", 40),
      .kind(.phone, "Fax", "Business Fax", 40),
      .kind(.phone, "MobilePhone", "Mobile Phone", 40),
      .kind(.phone, "HomePhone", "Home Phone", 40),
      .kind(.phone, "OtherPhone", "Other Phone", 40),
      .kind(.phone, "AssistantPhone", "Asst. Phone", 40),
      .lookup("ReportsToId", "Reports To ID", ["Contact"], "ReportsTo"),
      FieldSchema.kind(.email, "Email", "Email", 80).lookedUp,
      .text("Title", "Title", 128),
      .text("Department", "Department", 80),
      .text("AssistantName", "Assistant's Name", 40),
      .kind(.date, "Birthdate", "Birthdate"),
      .kind(.textarea, "Description", "Contact Description", 32000),
      .flag("DoNotCall", "Do Not Call"),
      .owner(),
    ] + StandardFields.contact + FieldSchema.audit + [externalID])

  private static let opportunity = ObjectSchema(
    "Opportunity", label: "Opportunity", plural: "Opportunities", prefix: "006",
    sharing: .privateToOwner,
    fields: FieldSchema.identity + [
      FieldSchema.lookup(
        "AccountId", "Account ID", ["Account"], "Account", children: "Opportunities"
      ).cascading,
      FieldSchema.text("Name", "Name", 120).required.naming.lookedUp,
      .kind(.textarea, "Description", "Description", 32000),
      .choice("StageName", "Stage", ["Prospecting", "Proposal", "Closed Won", "Closed Lost"])
        .required,
      .decimal(.currency, "Amount", "Amount", 18, 2),
      .decimal(.percent, "Probability", "Probability (%)", 3, 0),
      .kind(.date, "CloseDate", "Close Date").required,
      .text("NextStep", "Next Step", 255),
      .owner(),
    ] + StandardFields.opportunity + FieldSchema.audit)

  private static let product = ObjectSchema(
    "Product2", label: "Product", plural: "Products", prefix: "01t", sharing: .publicRead,
    fields: FieldSchema.identity + [
      .text("Name", "Product Name", 255).required.naming,
      .text("ProductCode", "Product Code", 255),
      .kind(.textarea, "Description", "Product Description", 4000),
      .flag("IsActive", "Active"),
      .choice("Family", "Product Family", ["None"]),
      .text("StockKeepingUnit", "Product SKU", 180),
    ] + FieldSchema.audit)

  private static let task = ObjectSchema(
    "Task", label: "Task", plural: "Tasks", prefix: "00T", sharing: .privateToOwner, queues: true,
    fields: FieldSchema.identity + [
      FieldSchema.lookup("WhoId", "Name ID", ["Contact", "Lead"], "Who", children: "Tasks")
        .cascading,
      FieldSchema.lookup(
        "WhatId", "Related To ID", ["Account", "Case", "WorkOrder"], "What", children: "Tasks"
      ).cascading,
      .kind(.combobox, "Subject", "Subject", 255).naming,
      .kind(.date, "ActivityDate", "Due Date Only"),
      .choice(
        "Status", "Status", ["Not Started", "In Progress", "Completed"], default: "Not Started"),
      .choice("Priority", "Priority", ["High", "Normal", "Low"], default: "Normal"),
      .kind(.textarea, "Description", "Description", 32000),
      .owner(),
    ] + FieldSchema.audit)
}
