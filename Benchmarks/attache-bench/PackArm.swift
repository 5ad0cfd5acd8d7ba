import Bundles

/// What of the making of bundles is measured beside its floor.
struct PackArm: Hashable {
  /// What is done.
  enum Work: String, CaseIterable {
    case pack, verify, seal

    /// What it may take, as a multiple of its floor.
    var limit: Double { self == .verify ? 1.2 : 1.1 }
  }

  let work: Work
  /// The bundles' format; a store is sealed before it is packed.
  var format: BundleFormat?

  /// The arms whose floors together do the same work: what is packed is read back before it gets its name.
  var sameWork: [PackArm] {
    work == .pack ? [self, PackArm(work: .verify, format: format)] : [self]
  }

  /// What its time is divided by.
  var floorName: String { work == .pack ? "floors of packing and verifying" : "floor" }

  var name: String { work.rawValue + (format.map { ", " + $0.rawValue } ?? "") }

  /// Every arm, those that read a format's bundles after the one that writes them.
  static let all =
    BundleFormat.allCases.flatMap {
      [PackArm(work: .pack, format: $0), PackArm(work: .verify, format: $0)]
    }
    + [PackArm(work: .seal)]
}
