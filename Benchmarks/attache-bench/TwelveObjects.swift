import MobileSync
import SmartStore

/// Twelve objects of different shapes, as in a field-service app: narrow and wide ones, with empty
/// fields, compound addresses, numbers and long texts.
enum TwelveObjects {
  /// Those with the most records come first.
  static let all = [
    task, event, contact, serviceCase, lead, account, siteVisit, opportunity, workOrder,
    serviceAppointment, product, recordType,
  ]

  private static func shape(
    _ object: String, _ soup: String, _ fields: String,
    _ own: [(path: String, type: IndexType)], pageSize: Int = SoqlTarget.defaultBatchSize
  ) -> ObjectShape {
    let names = fields.split { $0.isWhitespace }.map(String.init)
    return ObjectShape(
      object: object, soup: soup, fields: ["Id"] + names + ["LastModifiedDate"],
      indexes: ObjectShape.indexes(own), pageSize: pageSize)
  }

  /// A few narrow fields, one of which is always empty.
  private static let task = shape(
    "Task", "tasks", "Subject Status Priority ActivityDate WhoId",
    [("Status", .string), ("ActivityDate", .string), ("WhoId", .string)])

  /// Dates, booleans and whole numbers.
  private static let event = shape(
    "Event", "events",
    "Subject StartDateTime EndDateTime DurationInMinutes IsAllDayEvent IsPrivate ShowAs",
    [("StartDateTime", .string), ("DurationInMinutes", .integer)])

  /// Two compound addresses, one of which has only empty parts.
  private static let contact = shape(
    "Contact", "contacts",
    """
    FirstName LastName Title Email Phone Birthdate DoNotCall AccountId MailingAddress OtherAddress
    """,
    [
      ("FirstName", .string), ("LastName", .string), ("AccountId", .string),
      ("MailingAddress.city", .string),
    ])

  private static let serviceCase = shape(
    "Case", "cases",
    """
    CaseNumber Subject Status Origin Priority Type Reason IsEscalated IsClosed ClosedDate Comments
    SuppliedName SuppliedEmail AccountId ContactId
    """,
    [("CaseNumber", .string), ("Status", .string), ("AccountId", .string)])

  /// Many fields.
  private static let lead = shape(
    "Lead", "leads",
    """
    LastName FirstName Salutation Title Company Street City State PostalCode Country Latitude
    Longitude GeocodeAccuracy Address Phone MobilePhone Fax Email Website PhotoUrl Description
    LeadSource Status Industry Rating AnnualRevenue NumberOfEmployees HasOptedOutOfEmail IsConverted
    ConvertedDate IsUnreadByOwner DoNotCall HasOptedOutOfFax EmailBouncedReason EmailBouncedDate
    Jigsaw JigsawContactId CleanStatus OwnerId LastActivityDate LastViewedDate LastReferencedDate
    CreatedDate CreatedById LastModifiedById SystemModstamp
    """,
    [
      ("LastName", .string), ("Company", .string), ("AnnualRevenue", .floating),
      ("NumberOfEmployees", .integer),
    ])

  /// Many fields, and an index inside the element.
  private static let account = shape(
    "Account", "accounts",
    """
    Name Type ParentId BillingStreet BillingCity BillingState BillingPostalCode BillingCountry
    BillingAddress ShippingAddress Phone Fax AccountNumber Website Sic Industry AnnualRevenue
    NumberOfEmployees Description Rating Site OwnerId TickerSymbol Ownership AccountSource SicDesc
    Jigsaw CleanStatus DunsNumber Tradestyle NaicsCode NaicsDesc YearStarted PhotoUrl
    External_Id__c CreatedDate CreatedById LastModifiedById SystemModstamp
    """,
    [
      ("Name", .string), ("AnnualRevenue", .floating), ("Industry", .json1),
      ("BillingAddress.city", .json1),
    ])

  /// Long texts, so that one element takes several pages of the store.
  ///
  /// An org returns few such records at a time; if a query names two long-text fields, at most 200
  /// ("Change the Batch Size in Queries").
  private static let siteVisit = shape(
    "Site_Visit__c", "visits",
    """
    Name External_Id__c Account__c Work_Order__c Visit_Date__c Hours__c Cost__c Completed__c Notes__c
    Equipment__c
    """,
    [
      ("Name", .string), ("External_Id__c", .string), ("Visit_Date__c", .string),
      ("Hours__c", .floating),
    ], pageSize: 200)

  /// Numbers.
  private static let opportunity = shape(
    "Opportunity", "opportunities",
    """
    Name StageName Amount Probability CloseDate IsWon ForecastCategoryName ExpectedRevenue
    TotalOpportunityQuantity FiscalQuarter FiscalYear HasOpenActivity AccountId
    """,
    [
      ("Name", .string), ("Amount", .floating), ("CloseDate", .string), ("StageName", .json1),
    ])

  private static let workOrder = shape(
    "WorkOrder", "workOrders",
    "WorkOrderNumber Subject Status Priority StartDate EndDate Address AccountId ContactId CaseId",
    [("WorkOrderNumber", .string), ("Status", .string), ("StartDate", .string)])

  private static let serviceAppointment = shape(
    "ServiceAppointment", "appointments",
    """
    AppointmentNumber Subject Status EarliestStartTime DueDate SchedStartTime SchedEndTime Duration
    DurationType Address ContactId
    """,
    [
      ("AppointmentNumber", .string), ("EarliestStartTime", .string), ("Duration", .floating),
    ])

  private static let product = shape(
    "Product2", "products", "Name ProductCode IsActive Family StockKeepingUnit",
    [("Name", .string), ("ProductCode", .string)])

  private static let recordType = shape(
    "RecordType", "recordTypes", "Name DeveloperName SobjectType IsActive",
    [("SobjectType", .string)])
}
