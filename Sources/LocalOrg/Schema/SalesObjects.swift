/// Leads and events.
enum SalesObjects {
  static var all: [ObjectSchema] { [lead, event] }

  private static func part(_ field: FieldSchema) -> FieldSchema {
    var part = field
    part.compoundFieldName = "Name"
    return part
  }

  private static let name: FieldSchema = {
    var field = FieldSchema.text("Name", "Full Name", 121).readOnly.naming
    field.nillable = false
    return field
  }()

  private static let lead = ObjectSchema(
    "Lead", label: "Lead", plural: "Leads", prefix: "00Q", sharing: .privateToOwner, queues: true,
    fields: FieldSchema.identity + [
      BusinessObjects.merged(into: "Lead"),
      part(.text("LastName", "Last Name", 80).required),
      part(.text("FirstName", "First Name", 40)),
      part(.choice("Salutation", "Salutation", ["Mr.", "Ms.", "Mrs.", "Dr.", "Mx."])),
      name,
      .text("Title", "Title", 128),
      FieldSchema.text("Company", "Company", 255).required,
    ] + FieldSchema.address("", "Lead") + [
      .kind(.phone, "Phone", "Phone", 40),
      .kind(.phone, "MobilePhone", "Mobile Phone", 40),
      .kind(.phone, "Fax", "Fax", 40),
      FieldSchema.kind(.email, "Email", "Email", 80).lookedUp,
      .kind(.url, "Website", "Website", 255),
      StandardFields.photo,
      .kind(.textarea, "Description", "Description", 32000),
      .choice("LeadSource", "Lead Source", StandardFields.sources),
      .choice(
        "Status", "Status", ["Open - Not Contacted", "Working - Contacted", "Closed - Converted"],
        default: "Open - Not Contacted"),
      .choice("Industry", "Industry", ["Agriculture", "Construction", "Energy", "Retail"]),
      .choice("Rating", "Rating", ["Hot", "Warm", "Cold"]),
      .decimal(.currency, "AnnualRevenue", "Annual Revenue", 18, 0),
      .whole("NumberOfEmployees", "Employees", digits: 8),
      .flag("HasOptedOutOfEmail", "Email Opt Out"),
      FieldSchema.flag("IsConverted", "Converted").readOnly,
      FieldSchema.kind(.date, "ConvertedDate", "Converted Date").readOnly,
      FieldSchema.lookup(
        "ConvertedAccountId", "Converted Account ID", ["Account"], "ConvertedAccount"
      ).readOnly,
      FieldSchema.lookup(
        "ConvertedContactId", "Converted Contact ID", ["Contact"], "ConvertedContact"
      ).readOnly,
      FieldSchema.lookup(
        "ConvertedOpportunityId", "Converted Opportunity ID", ["Opportunity"],
        "ConvertedOpportunity"
      ).readOnly,
      .flag("IsUnreadByOwner", "Unread By Owner", true),
      .flag("DoNotCall", "Do Not Call"),
      .flag("HasOptedOutOfFax", "Fax Opt Out"),
      .text("EmailBouncedReason", "Email Bounced Reason", 255),
      .kind(.datetime, "EmailBouncedDate", "Email Bounced Date"),
      .text("Jigsaw", "Data.com Key", 20),
      FieldSchema.text("JigsawContactId", "Jigsaw Contact ID", 20).readOnly,
      .choice("CleanStatus", "Clean Status", ["Matched", "Different", "Pending"]),
      .owner(),
    ] + StandardFields.visits + FieldSchema.audit)

  private static let event = ObjectSchema(
    "Event", label: "Event", plural: "Events", prefix: "00U", sharing: .privateToOwner,
    fields: FieldSchema.identity + [
      FieldSchema.lookup("WhoId", "Name ID", ["Contact", "Lead"], "Who", children: "Events")
        .cascading,
      FieldSchema.lookup(
        "WhatId", "Related To ID", ["Account", "Case", "Opportunity", "WorkOrder"], "What",
        children: "Events"
      ).cascading,
      .kind(.combobox, "Subject", "Subject", 255).naming,
      .text("Location", "Location", 255),
      .flag("IsAllDayEvent", "All-Day Event"),
      .kind(.datetime, "ActivityDateTime", "Due Date Time"),
      .kind(.date, "ActivityDate", "Due Date Only"),
      .whole("DurationInMinutes", "Duration", digits: 8),
      .kind(.datetime, "StartDateTime", "Start Date Time"),
      .kind(.datetime, "EndDateTime", "End Date Time"),
      .kind(.date, "EndDate", "End Date").readOnly,
      .kind(.textarea, "Description", "Description", 32000),
      .flag("IsPrivate", "Private"),
      .choice("ShowAs", "Show Time As", ["Busy", "OutOfOffice", "Free"], default: "Busy"),
      FieldSchema.flag("IsChild", "Is Child").readOnly,
      FieldSchema.flag("IsGroupEvent", "Is Group Event").readOnly,
      FieldSchema.choice("GroupEventType", "Group Event Type", ["0", "1", "2"]).readOnly,
      FieldSchema.flag("IsArchived", "Archived").readOnly,
      .flag("IsVisibleInSelfService", "Visible in Self-Service"),
      .kind(.datetime, "ReminderDateTime", "Reminder Date/Time"),
      .flag("IsReminderSet", "Reminder Set"),
      .choice("EventSubtype", "Event Subtype", ["Event"], default: "Event"),
      FieldSchema.flag("IsRecurrence", "Create Recurring Series of Events").readOnly,
      .owner(),
    ] + FieldSchema.audit)
}
