import Bundles

/// A part of the work on bundles, compared with its floor.
struct PackArm: Hashable {
  enum Work: String, CaseIterable {
    case pack, verify, seal

    /// The limit, as a multiple of its floor.
    var limit: Double { self == .verify ? 1.2 : 1.1 }
  }

  let work: Work
  /// The bundles' format; nil for sealing, which precedes packing.
  var format: BundleFormat?

  /// The arms whose floors together do the same work: a packed bundle is read back before it is
  /// renamed.
  var sameWork: [PackArm] {
    work == .pack ? [self, PackArm(work: .verify, format: format)] : [self]
  }

  /// The name of its floor.
  var floorName: String { work == .pack ? "floors of packing and verifying" : "floor" }

  var name: String { work.rawValue + (format.map { ", " + $0.rawValue } ?? "") }

  /// All arms; those that read a format's bundles follow the one that writes them.
  static let all =
    BundleFormat.allCases.flatMap {
      [PackArm(work: .pack, format: $0), PackArm(work: .verify, format: $0)]
    }
    + [PackArm(work: .seal)]
}
