/* SPDX-License-Identifier: MIT */
#ifndef PADDOCK_H
#define PADDOCK_H

/*
 * The workspace tools for programs in C (C99), and in all languages that call C: files, edits,
 * search, commands, undo, and an MCP server of them, confined to one directory. Link libpaddock-c.
 *
 * Texts in and out are UTF-8 that ends with NUL; arguments, options and results are JSON. A result
 * is as the tool's page in MCP says it: paddock_tools has the schemas. A text that comes out is the
 * caller's: give it to paddock_free. Where `text` is NULL, it is not wanted.
 *
 * No exception crosses. A NULL where a text is needed is answered with PADDOCK_REFUSED. Where there
 * is no memory for a text, it is NULL, also with PADDOCK_OK. Not guaranteed: that a workspace lives
 * on in a child after fork.
 *
 * The ABI: functions and values are added, never changed or removed, while PADDOCK_ABI is the same;
 * structures are opaque. Tools and options grow as those of the programs do.
 *
 * Thread-safety: all functions may be called from any number of threads at once, but for those that
 * close or free: while they run, and later, no other function may use their argument.
 */

#ifdef __cplusplus
extern "C" {
#endif

#define PADDOCK_ABI 1
#define PADDOCK_API __attribute__((visibility("default")))

typedef struct paddock_workspace paddock_workspace;
typedef struct paddock_cancellation paddock_cancellation;

typedef enum paddock_status {
  PADDOCK_OK = 0,
  PADDOCK_FAILED = 1,  /* the tool says why it failed: {"error", "message", ...} */
  PADDOCK_REFUSED = 2  /* nothing was done, or no result came: the same object */
} paddock_status;

/* What paddock_open_file opens a file for. */
typedef enum paddock_access {
  PADDOCK_READ = 0,
  PADDOCK_DIRECTORY = 1 /* to list it, or for openat() and the like, which no longer are confined */
} paddock_access;

/* The PADDOCK_ABI that the library was built with. */
PADDOCK_API int paddock_abi(void);
/* "0.1.0"; the library's own text, not to be freed. */
PADDOCK_API const char *paddock_version(void);

/*
 * Opens the directory. `options` is NULL or a JSON object with any of:
 *   "tools"       "coding" (the default: all tools) or "base" (seventeen of them)
 *   "readOnly"    true: nothing that changes something, and no commands
 *   "pick", "omit"  arrays of tools' names: these alone, or not these
 *   "exec"        "confined" (the default) or "off"
 *   "network"     of commands: "loopback" (the default), "none", "all" or "allow:LIST", as --network
 *   "execRead", "execWrite"  arrays of absolute paths beyond the workspace for commands
 *   "environment" array of "NAME=value" for commands
 *   "protect", "hide"  arrays of names that nothing changes, or sees, beside the usual ones
 *   "history"     an absolute path to a directory that no command reaches: for undo, and for what a
 *                 killed program leaves behind, which the next one that opens the workspace ends
 *   "execHelper"  the absolute path of paddock-exec-helper, where it is not installed
 * On success `*workspace` is the caller's: give it to paddock_close; `*text` is NULL, or a JSON array
 * of sentences about what a killed program had left. Else `*workspace` is NULL, and `*text` says why.
 */
PADDOCK_API paddock_status paddock_open(const char *directory, const char *options,
                                        paddock_workspace **workspace, char **text);
/*
 * Ends background processes. Before it, all calls have to be back (paddock_cancel ends them), and
 * paddock_serve as well (`stop` ends it). NULL: nothing.
 */
PADDOCK_API void paddock_close(paddock_workspace *workspace);

/* A JSON array of {"name", "description", "inputSchema"}. */
PADDOCK_API paddock_status paddock_tools(paddock_workspace *workspace, char **text);

/*
 * Runs a tool. `arguments` is a JSON object, or NULL for none. `*text` is the JSON object of its
 * result or failure; with a picture, the JSON array of MCP's content blocks. `cancellation` may be
 * NULL.
 */
PADDOCK_API paddock_status paddock_call(paddock_workspace *workspace, const char *tool,
                                        const char *arguments,
                                        const paddock_cancellation *cancellation, char **text);

/* NULL: there is no memory. */
PADDOCK_API paddock_cancellation *paddock_cancellation_new(void);
/* Ends the calls that were given it, now and later; may be called from a signal handler. */
PADDOCK_API void paddock_cancel(const paddock_cancellation *cancellation);
PADDOCK_API void paddock_cancellation_free(paddock_cancellation *cancellation);

/*
 * Opens what `path` names beneath the workspace, by no link, mount or rename outside, and gives the
 * caller a descriptor (close-on-exec, to be closed with close(2)) in `*descriptor`; else -1.
 */
PADDOCK_API paddock_status paddock_open_file(paddock_workspace *workspace, const char *path,
                                             paddock_access access, int *descriptor, char **text);

/*
 * Serves the tools as an MCP server on a pair of descriptors, one message per line, until they end
 * or `stop` becomes readable (-1: never). The descriptors stay the caller's. SIGPIPE is ignored from
 * then on in the whole process.
 */
PADDOCK_API paddock_status paddock_serve(paddock_workspace *workspace, int in, int out, int stop,
                                         char **text);

PADDOCK_API void paddock_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
