import { FAILURES } from '@svc/contract/errors'
import { createdMs } from '@svc/kernel/ids'
import type { LoggedRequest } from '@svc/sdk'
import { printJson, printRecord } from './print.ts'
import { openProfile, type RemoteOptions } from './remote.ts'
import { UsageError } from './usage-error.ts'

/** A request is logged when its response was sent, which may take so long after its id was drawn. */
const LOGGED_WITHIN_MS = 600_000
const REQUEST_ID = /^req_[0-9a-hjkmnp-tv-z]{26}$/

type Explained = Readonly<
  Record<'request' | 'sent' | 'status' | 'cause' | 'remedy' | 'retry' | 'link', string>
>

/** `svc logs explain`: why a request failed, and what to do about it. */
export async function explainRequest(requestId: string, options: RemoteOptions): Promise<void> {
  if (!REQUEST_ID.test(requestId))
    throw new UsageError(
      'Give a request id, such as req_01m7yx5qqbnk0stdw6jb6ew8pz: it is the x-request-id of the response, and in every error',
    )
  const session = await openProfile(options)
  const sentMs = createdMs(requestId)
  const window = {
    from: new Date(sentMs - LOGGED_WITHIN_MS).toISOString(),
    to: new Date(sentMs + LOGGED_WITHIN_MS).toISOString(),
  }
  const find = async (): Promise<LoggedRequest | undefined> => {
    for await (const each of session.client.requests.list({ ...window, limit: 500 }))
      if (each.requestId === requestId) return each
    return undefined
  }
  const found = await session.reported('GET /api/v0/requests', find())
  if (!found)
    throw new UsageError(
      `Your request log has no ${requestId}. A request appears seconds after its response; of successful reads there is a sample; requests of another tenant are in its own log. Without a valid token a request is in no tenant's log: its error says why`,
    )
  const explained = explain(found, session.docs)
  if (options.json) printJson(explained)
  else printRecord(explained, false)
}

function explain(
  { requestId, method, path, status, error, description = '' }: LoggedRequest,
  docs: string,
): Explained {
  const about = { request: requestId, sent: `${method} ${path}`, status: `${status} ${error ?? ''}`.trim() }
  if (error === undefined)
    return { ...about, cause: 'It succeeded', remedy: 'None is needed', retry: 'no', link: docs }
  // A server that is newer than this command line may have codes that this one does not know.
  const kind = Object.hasOwn(FAILURES, error) ? FAILURES[error as keyof typeof FAILURES] : undefined
  return {
    ...about,
    cause: description || (kind?.description ?? 'See the link'),
    remedy: kind?.remedy ?? 'See the link',
    retry: retryOf(status),
    link: `${docs}#${error}`,
  }
}

/** As the guide to errors and retries says. */
function retryOf(status: number): string {
  if (status === 408 || status === 421 || status === 429) return 'yes, after Retry-After if there is one'
  if (status >= 500) return 'yes, with the same Idempotency-Key'
  return status === 401 ? 'once, with a new token' : 'no: change the request'
}
