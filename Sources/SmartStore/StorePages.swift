/// The pages of a store's file, plain or sealed.
enum StorePages {
  /// SmartStore's page size; also SQLCipher's, so that a file can be sealed page by page.
  static let size: Int32 = 4096
  /// What SQLCipher 4 needs at the end of each page: 16 bytes of IV and 64 of HMAC.
  static let reservedBytes: Int32 = 80
}
