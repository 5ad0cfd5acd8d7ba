/// Fields that orgs have on their standard objects and that are rarely used here.
enum StandardFields {
  static let account: [FieldSchema] =
    [
      .text("TickerSymbol", "Ticker Symbol", 20),
      .choice("Ownership", "Ownership", ["Public", "Private", "Subsidiary", "Other"]),
      .choice("AccountSource", "Account Source", sources),
      .text("SicDesc", "SIC Description", 80),
      .text("Jigsaw", "Data.com Key", 20),
      FieldSchema.text("JigsawCompanyId", "Jigsaw Company ID", 20).readOnly,
      .choice("CleanStatus", "Clean Status", ["Matched", "Different", "Pending"]),
      .text("DunsNumber", "D-U-N-S Number", 9),
      .text("Tradestyle", "Tradestyle", 255),
      .text("NaicsCode", "NAICS Code", 8),
      .text("NaicsDesc", "NAICS Description", 120),
      .text("YearStarted", "Year Started", 4),
      photo,
    ] + visits

  static let contact: [FieldSchema] =
    [
      .choice("LeadSource", "Lead Source", sources),
      .flag("HasOptedOutOfEmail", "Email Opt Out"),
      .flag("HasOptedOutOfFax", "Fax Opt Out"),
      moment("LastCURequestDate", "Last Stay-in-Touch Request Date"),
      moment("LastCUUpdateDate", "Last Stay-in-Touch Save Date"),
      .text("EmailBouncedReason", "Email Bounced Reason", 255),
      .kind(.datetime, "EmailBouncedDate", "Email Bounced Date"),
      FieldSchema.flag("IsEmailBounced", "Is Email Bounced").readOnly,
      .text("Jigsaw", "Data.com Key", 20),
      FieldSchema.text("JigsawContactId", "Jigsaw Contact ID", 20).readOnly,
      .choice("CleanStatus", "Clean Status", ["Matched", "Different", "Pending"]),
      photo,
    ] + visits

  static let opportunity: [FieldSchema] =
    [
      .choice("Type", "Opportunity Type", ["Existing Business", "New Business"]),
      .choice("LeadSource", "Lead Source", sources),
      .flag("IsPrivate", "Private"),
      FieldSchema.flag("IsClosed", "Closed").readOnly,
      FieldSchema.flag("IsWon", "Won").readOnly,
      .choice(
        "ForecastCategoryName", "Forecast Category",
        ["Omitted", "Pipeline", "Best Case", "Commit", "Closed"]),
      FieldSchema.decimal(.currency, "ExpectedRevenue", "Expected Amount", 18, 2).readOnly,
      .decimal(.double, "TotalOpportunityQuantity", "Quantity", 18, 2),
      FieldSchema.flag("HasOpportunityLineItem", "Has Line Item").readOnly,
      FieldSchema.whole("FiscalQuarter", "Fiscal Quarter", digits: 9).readOnly,
      FieldSchema.whole("FiscalYear", "Fiscal Year", digits: 9).readOnly,
      FieldSchema.text("Fiscal", "Fiscal Period", 6).readOnly,
      FieldSchema.flag("HasOpenActivity", "Has Open Activity").readOnly,
      FieldSchema.flag("HasOverdueTask", "Has Overdue Task").readOnly,
      moment("LastStageChangeDate", "Last Stage Change Date"),
    ] + visits

  static let serviceCase: [FieldSchema] = [
    .text("SuppliedName", "Web Name", 80),
    .kind(.email, "SuppliedEmail", "Web Email", 80),
    .text("SuppliedPhone", "Web Phone", 40),
    .text("SuppliedCompany", "Web Company", 80),
    .choice("Reason", "Case Reason", ["Installation", "Performance", "Breakdown", "Other"]),
    .flag("IsEscalated", "Escalated"),
    FieldSchema.kind(.phone, "ContactPhone", "Contact Phone", 40).readOnly,
    FieldSchema.kind(.phone, "ContactMobile", "Contact Mobile", 40).readOnly,
    FieldSchema.kind(.email, "ContactEmail", "Contact Email", 80).readOnly,
    FieldSchema.kind(.phone, "ContactFax", "Contact Fax", 40).readOnly,
    .kind(.textarea, "Comments", "Internal Comments", 4000),
    moment("LastViewedDate", "Last Viewed Date"),
    moment("LastReferencedDate", "Last Referenced Date"),
  ]

  static let sources = ["Web", "Phone Inquiry", "Partner Referral", "Purchased List", "Other"]

  /// Times of the last activity; they are never written.
  static let visits: [FieldSchema] = [
    FieldSchema.kind(.date, "LastActivityDate", "Last Activity").readOnly,
    moment("LastViewedDate", "Last Viewed Date"),
    moment("LastReferencedDate", "Last Referenced Date"),
  ]

  static let photo = FieldSchema.kind(.url, "PhotoUrl", "Photo URL", 255).readOnly

  static func moment(_ name: String, _ label: String) -> FieldSchema {
    FieldSchema(name, label, .datetime).readOnly
  }
}
