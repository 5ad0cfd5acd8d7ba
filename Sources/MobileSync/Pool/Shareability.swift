import Salesforce

/// Whether the records of an object may be fetched once for all users who read them alike.
///
/// Kinds of values are listed that do not depend on who asks. The values of any other field of the
/// object are fetched for each user, in addition to the shared ones of the record. No listed value
/// depends on the user's language, time zone or currency, so a class does not include them.
package enum Shareability: Sendable, Hashable {
  /// The records are fetched once for each class, apart from the fields that each user fetches, for
  /// these reasons.
  case shared(ReadingClass, own: [String])
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
    var own: [(name: String, reason: String)] = []
    for field in fields {
      // What a field of the user's own depends on is not part of the class.
      var next = review
      guard let reason = next.reason(against: field) else {
        review = next
        continue
      }
      if let known = object.field(field) {
        own.append((known.name, reason))
      } else {
        reasons.append(reason)
      }
    }
    let whys = own.map(\.reason)
    let others = fields.count { !general.contains($0.lowercased()) } - own.count
    // If most of a record is the user's own, little is left to share.
    guard reasons.isEmpty, own.count <= others || own.isEmpty else {
      return .separate(reasons + whys)
    }
    return .shared(
      ReadingClass(
        object: object.name, fields: fields, request: request, meaning: review.meaning,
        hasFormulas: review.hasFormulas, own: own.map(\.name),
        moving: Set(own.map(\.name).filter { review.mayMove($0) })),
      own: whys)
  }

  /// Fields that each request has.
  private static let general: Set = ["id", "lastmodifieddate", "systemmodstamp"]

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
