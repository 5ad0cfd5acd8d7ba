import Salesforce

/// Whether the records of an object may be fetched once for all users who read them alike.
///
/// Kinds of values are listed that do not depend on who asks. Whatever is not listed is fetched for
/// each user. No listed value depends on the user's language, time zone or currency, so a class
/// does not include them.
package enum Shareability: Sendable, Hashable {
  /// The records are fetched once for each class.
  case shared(ReadingClass)
  /// The records are fetched for each user, for these reasons.
  case separate([String])

  /// Decides about records that are requested by ID with a list of fields.
  package static func of(_ object: Describe, fields: [String]) -> Shareability {
    of(object, fields, by: .retrieve, [])
  }

  /// Decides about records that are requested by a query.
  package static func of(_ object: Describe, _ query: SOQLText) -> Shareability {
    of(object, query.readPaths, by: .query, reasons(against: query))
  }

  /// Why the records of a query are not shared, whatever the object is.
  static func reasons(against query: SOQLText) -> [String] {
    var reasons: [String] = []
    for clause in [
      SOQLText.Clause.scope, .with, .groupBy, .having, .limit, .offset, .for, .allRows,
    ] where query[clause] != nil {
      reasons.append("the query has \(clause.keyword.uppercased())")
    }
    if query.readPaths.count < query.selectedFields.count {
      reasons.append("the query selects something other than fields")
    }
    return reasons
  }

  private static func of(
    _ object: Describe, _ fields: [String], by request: ReadingClass.Request, _ found: [String]
  ) -> Shareability {
    var reasons = found
    if let reason = reason(against: object) { reasons.append(reason) }
    var review = FieldReview(object)
    for field in fields {
      if let reason = review.reason(against: field) { reasons.append(reason) }
    }
    guard reasons.isEmpty else { return .separate(reasons) }
    return .shared(
      ReadingClass(
        object: object.name, fields: fields, request: request, meaning: review.meaning,
        hasFormulas: review.hasFormulas))
  }

  /// Why the records of an object are not shared; nil if they may be.
  private static func reason(against object: Describe) -> String? {
    let isKnown =
      object.name.lowercased().hasSuffix("__c")
      ? !object.isCustomSetting : standardObjects.contains(object.name)
    if !isKnown { return "the records of \(object.name) may depend on the user" }
    return object.field(ReadingClass.stamp) == nil
      ? "\(object.name) has no field \(ReadingClass.stamp) for this user" : nil
  }

  /// The standard objects whose records have the same values for all users who may read them.
  private static let standardObjects: Set = [
    "Account", "Asset", "AssociatedLocation", "Campaign", "Case", "Contact", "Contract",
    "ContractLineItem", "Entitlement", "Lead", "Location", "MaintenancePlan", "Opportunity",
    "OpportunityLineItem", "Order", "OrderItem", "Pricebook2", "PricebookEntry", "Product2",
    "ProductConsumed", "ProductItem", "ProductRequest", "ProductRequestLineItem",
    "ProductRequired", "ProductTransfer", "Quote", "QuoteLineItem", "ResourceAbsence",
    "ReturnOrder", "ReturnOrderLineItem", "ServiceAppointment", "ServiceContract",
    "ServiceResource", "ServiceTerritory", "ServiceTerritoryMember", "Shipment", "Task",
    "TimeSheet", "TimeSheetEntry", "WorkOrder", "WorkOrderLineItem", "WorkType",
  ]
}
