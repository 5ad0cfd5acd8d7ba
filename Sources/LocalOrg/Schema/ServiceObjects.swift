/// The objects of field service, and a custom one.
enum ServiceObjects {
  static var all: [ObjectSchema] { [serviceCase, workOrder, serviceAppointment, siteVisit] }

  private static let serviceCase = ObjectSchema(
    "Case", label: "Case", plural: "Cases", prefix: "500", sharing: .privateToOwner, queues: true,
    fields: FieldSchema.identity + [
      BusinessObjects.merged(into: "Case"),
      .counter("CaseNumber", "Case Number"),
      FieldSchema.lookup("ContactId", "Contact ID", ["Contact"], "Contact", children: "Cases")
        .restricting,
      FieldSchema.lookup("AccountId", "Account ID", ["Account"], "Account", children: "Cases")
        .restricting,
      .lookup("ParentId", "Parent Case ID", ["Case"], "Parent", children: "Cases"),
      .choice("Type", "Case Type", ["Mechanical", "Electrical", "Other"]),
      BusinessObjects.recordType,
      .choice("Status", "Status", ["New", "Working", "Escalated", "Closed"], default: "New"),
      .choice("Origin", "Case Origin", ["Phone", "Email", "Web"]),
      .text("Subject", "Subject", 255),
      .choice("Priority", "Priority", ["High", "Medium", "Low"], default: "Medium"),
      .kind(.textarea, "Description", "Description", 32000),
      .flag("IsClosed", "Closed").readOnly,
      .kind(.datetime, "ClosedDate", "Closed Date").readOnly,
      .owner(),
    ] + StandardFields.serviceCase + FieldSchema.audit)

  private static let workOrder = ObjectSchema(
    "WorkOrder", label: "Work Order", plural: "Work Orders", prefix: "0WO",
    sharing: .privateToOwner, queues: true,
    fields: FieldSchema.identity + [
      .counter("WorkOrderNumber", "Work Order Number"),
      .lookup("AccountId", "Account ID", ["Account"], "Account", children: "WorkOrders"),
      .lookup("ContactId", "Contact ID", ["Contact"], "Contact", children: "WorkOrders"),
      .lookup("CaseId", "Case ID", ["Case"], "Case", children: "WorkOrders"),
      .text("Subject", "Subject", 255),
      .kind(.textarea, "Description", "Description", 32000),
      .choice(
        "Status", "Status", ["New", "In Progress", "On Hold", "Completed", "Canceled"],
        default: "New"),
      .choice("Priority", "Priority", ["Low", "Medium", "High", "Critical"], default: "Medium"),
      .kind(.datetime, "StartDate", "Start Date"),
      .kind(.datetime, "EndDate", "End Date"),
    ] + FieldSchema.address("", "Work") + [
      .owner()
    ] + FieldSchema.audit)

  private static let serviceAppointment = ObjectSchema(
    "ServiceAppointment", label: "Service Appointment", plural: "Service Appointments",
    prefix: "08p", sharing: .privateToOwner, queues: true,
    fields: FieldSchema.identity + [
      .counter("AppointmentNumber", "Appointment Number"),
      FieldSchema.lookup(
        "ParentRecordId", "Parent Record ID", ["Account", "Case", "WorkOrder"], "ParentRecord",
        children: "ServiceAppointments"
      ).required.cascading,
      .lookup("AccountId", "Account ID", ["Account"], "Account").readOnly,
      .lookup("ContactId", "Contact ID", ["Contact"], "Contact", children: "ServiceAppointments"),
      .text("Subject", "Subject", 255),
      .kind(.textarea, "Description", "Description", 32000),
      .choice(
        "Status", "Status",
        ["None", "Scheduled", "Dispatched", "In Progress", "Completed", "Canceled"],
        default: "None"),
      .kind(.datetime, "EarliestStartTime", "Earliest Start Permitted").required,
      .kind(.datetime, "DueDate", "Due Date").required,
      .kind(.datetime, "SchedStartTime", "Scheduled Start"),
      .kind(.datetime, "SchedEndTime", "Scheduled End"),
      .decimal(.double, "Duration", "Duration", 16, 2),
      .choice("DurationType", "Duration Type", ["Hours", "Minutes"], default: "Hours"),
    ] + FieldSchema.address("", "Service") + [
      .owner()
    ] + FieldSchema.audit)

  private static let siteVisit = ObjectSchema(
    "Site_Visit__c", label: "Site Visit", plural: "Site Visits", prefix: "a00",
    sharing: .privateToOwner,
    fields: FieldSchema.identity + [
      .owner(),
      .text("Name", "Site Visit Name", 80).required.naming,
    ] + FieldSchema.audit + [
      FieldSchema.text("External_Id__c", "External Id", 64).uniqueExternalID.ofTheAdministrator,
      FieldSchema.text("Legacy_Id__c", "Legacy Id", 40).externalID.ofTheAdministrator,
      FieldSchema.lookup(
        "Account__c", "Account", ["Account"], "Account__r", children: "Site_Visits__r"
      )
      .ofTheAdministrator,
      FieldSchema.lookup(
        "Work_Order__c", "Work Order", ["WorkOrder"], "Work_Order__r", children: "Site_Visits__r"
      ).ofTheAdministrator,
      FieldSchema.kind(.date, "Visit_Date__c", "Visit Date").ofTheAdministrator,
      FieldSchema.kind(.time, "Start_Time__c", "Start Time").ofTheAdministrator,
      FieldSchema.decimal(.double, "Hours__c", "Hours", 5, 2).ofTheAdministrator,
      FieldSchema.decimal(.currency, "Cost__c", "Cost", 16, 2).ofTheAdministrator,
      FieldSchema.flag("Completed__c", "Completed").ofTheAdministrator,
      FieldSchema.kind(.textarea, "Notes__c", "Notes", 32768).ofTheAdministrator,
      FieldSchema.kind(.multipicklist, "Equipment__c", "Equipment", 4099).ofTheAdministrator,
    ])
}
