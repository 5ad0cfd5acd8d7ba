#ifndef ATTACHE_CMICROHTTPD_H
#define ATTACHE_CMICROHTTPD_H
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <string.h>

// Variadic: Swift cannot import it. `address` is the socket address to bind.
static inline struct MHD_Daemon *attache_mhd_start(unsigned flags, const struct sockaddr *address,
                                                   MHD_AccessHandlerCallback handler, void *context,
                                                   MHD_RequestCompletedCallback done,
                                                   const struct MHD_OptionItem *options) {
  return MHD_start_daemon(flags, 0, (MHD_AcceptPolicyCallback)0, (void *)0, handler, context,
                          MHD_OPTION_NOTIFY_COMPLETED, done, context, MHD_OPTION_SOCK_ADDR, address,
                          MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

// Variadic, and the answer is a union: the port that was bound (0 if it cannot be told).
static inline uint16_t attache_mhd_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}

// Variadic, and the answer is a union: the client's address (null if it cannot be told).
static inline const struct sockaddr *attache_mhd_client_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : (const struct sockaddr *)0;
}

// The callback travels as an integer in the option array: Swift has no such cast for functions.
typedef void *(*attache_mhd_target_callback)(void *context, const char *target,
                                             struct MHD_Connection *connection);
static inline struct MHD_OptionItem attache_mhd_target_option(attache_mhd_target_callback callback,
                                                              void *context) {
  struct MHD_OptionItem item = {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)callback, context};
  return item;
}

#endif
