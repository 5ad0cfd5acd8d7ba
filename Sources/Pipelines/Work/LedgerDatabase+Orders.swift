import JSON
import Ledger
import Snapshots

extension LedgerDatabase {
  /// The orders that wait for workers, or for their results to be collected; nil if there are none.
  func notedOrders() throws -> OrderList? {
    guard let text = try noted(.orders), !text.isEmpty else { return nil }
    return try OrderList(
      MemberReader(json: JSONValue(parsing: text), path: path, file: "the list of orders"))
  }

  /// Notes the orders of an open run; nil for none, so that no result of earlier ones is adopted.
  func note(orders: OrderList?) throws {
    try store(orders?.json.text ?? "", as: .orders)
  }
}
