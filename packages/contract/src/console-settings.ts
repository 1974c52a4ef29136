import { oneOf, type Setting, whole } from './setting.ts'

/** The operators' console, and its log of requests. */
export const CONSOLE_SETTINGS = {
  CONSOLE: oneOf(
    ['on', 'off'],
    'on',
    'Whether this process serves the operators’ console at `/console`. In live mode operators sign in with a password; the owner of the database invites the first administrator with `svc admin operator invite --as-owner`.',
  ),
  PORTAL: oneOf(
    ['on', 'off'],
    'on',
    'Whether this process serves the portal of tenants at `/portal`: merchants and partners see and administrate what is theirs. Members are invited by operators with `svc admin member invite` or in the console.',
  ),
  CONSOLE_SESSION_HOURS: whole(
    12,
    1,
    168,
    'Longest time that an operator stays signed in to the console, and a member to the portal.',
  ),
  SIGN_IN_FAILURES_PER_MINUTE: whole(
    10,
    1,
    10_000,
    'Wrong passwords per minute, for each address and each name, before every further attempt waits its turn, one a second for an address.',
  ),
  REQUEST_LOG_DAYS: whole(
    7,
    1,
    365,
    'How long entries of the console’s request log are kept, unless `REQUEST_LOG_ROWS_MAX` deletes them earlier.',
  ),
  REQUEST_LOG_ROWS_MAX: whole(
    2_000_000,
    1_000,
    1_000_000_000,
    'Most entries of the request log. The oldest beyond it are deleted, also before `REQUEST_LOG_DAYS` are over: 2,000,000 are 67 minutes at 500 entries a second. Counted once an hour; the log and the console say since when the request log is complete.',
  ),
  REQUEST_LOG_PER_SECOND: whole(
    500,
    0,
    100_000,
    'Most requests that a process enters in the request log in a second, failures first; 0 for none. What is beyond is counted in `svc_request_log_dropped_total`.',
  ),
  REQUEST_LOG_READ_SAMPLE: whole(
    100,
    1,
    1_000_000,
    'Of so many successful reads one is entered in the request log.',
  ),
} satisfies Record<string, Setting<unknown, string | undefined>>
