import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { writeWhole } from '@svc/platform/write-whole'
import { type Event, SvcError } from '@svc/sdk'
import { Webhook } from 'standardwebhooks'
import { createdAtMs, type FeedStart, findPosition } from './feed-position.ts'
import { pauseAfter, type TenantSession } from './tenant-session.ts'
import { RemoteError, UsageError } from './usage-error.ts'

interface Position {
  /** Sequence of the last event that was printed and taken. */
  after: number
  /** Signs what is forwarded; stays the same over restarts. */
  readonly secret: string
}

export interface Listening {
  readonly session: TenantSession
  readonly positionFile: string
  readonly forward: string | undefined
  /** Where to begin; by default at the kept position, and now when there is none. */
  readonly from: FeedStart | undefined
  /** Only events of these types are printed and forwarded; all where there is none. */
  readonly types?: readonly string[]
  readonly say: (line: string) => void
}

/**
 * Prints every event of the feed and forwards it, in order, each until it is accepted. The position is written after
 * that, so a restart repeats at most the last event and misses none.
 */
export async function listenToEvents(listening: Listening): Promise<void> {
  const { session, from, say, types = [] } = listening
  const since = from instanceof Date ? from.getTime() : Number.NEGATIVE_INFINITY
  let isLost = false
  const onReconnect = (): void => {
    if (!isLost) say('The service cannot be reached; trying again …')
    isLost = true
  }
  const position = await untilReached(() => beginning(listening), onReconnect)
  const following = { after: position.after, maxReconnects: Number.POSITIVE_INFINITY, onReconnect }
  try {
    for await (const event of session.client.events.follow(following)) {
      isLost = false
      const isWanted = types.length === 0 || types.includes(event.type)
      if (isWanted && createdAtMs(event) >= since) await pass(event, position, listening)
      position.after = event.sequence
      await writePosition(listening.positionFile, position)
    }
  } catch (error) {
    throw streamErrorOf(session, error)
  }
}

async function untilReached<T>(work: () => Promise<T>, onFailure: () => void): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof RemoteError) || error.code !== 'unreachable') throw error
      onFailure()
      await pauseAfter(failures)
    }
  }
}

function streamErrorOf(session: TenantSession, error: unknown): unknown {
  if (SvcError.is(error, 'events_forgotten', 'events_ahead'))
    return new UsageError(`${error.description}. Start again with --from start or --from now.`)
  return session.errorOf('GET /api/v0/events/stream', error)
}

async function beginning({ session, positionFile, forward, from, say }: Listening): Promise<Position> {
  const kept = await readPosition(positionFile)
  const position: Position = {
    after: kept && from === undefined ? kept.after : await findPosition(session, from ?? 'now'),
    secret: kept?.secret ?? `whsec_${randomBytes(32).toString('base64')}`,
  }
  await writePosition(positionFile, position)
  say(`Listening for events after #${position.after}`)
  if (forward) say(`Signing with ${position.secret}`)
  return position
}

async function pass(event: Event, { secret }: Position, { forward, say }: Listening): Promise<void> {
  say(`${event.createdOn}  #${event.sequence}  ${event.type}  ${event.id}`)
  say(JSON.stringify(event.data, null, 2).replace(/^/gm, '    '))
  if (forward) await forwardUntilTaken(forward, event, secret, say)
}

async function readPosition(file: string): Promise<Position | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const position = JSON.parse(text) as Position
    if (Number.isSafeInteger(position.after)) return position
  } catch {
    // Cut short, or of something else.
  }
  throw new UsageError(`${file} contains no position; delete it to start again`)
}

const writePosition = (file: string, position: Position): Promise<void> =>
  writeWhole(file, `${JSON.stringify(position, null, 2)}\n`)

async function forwardUntilTaken(
  url: string,
  event: Event,
  secret: string,
  say: (line: string) => void,
): Promise<void> {
  const body = JSON.stringify(event)
  for (let failures = 0; ; ) {
    const at = new Date()
    const headers = {
      'content-type': 'application/json',
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(event.id, at, body),
    }
    try {
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers,
        redirect: 'manual',
        signal: AbortSignal.timeout(10_000),
      })
      await response.body?.cancel()
      say(`    → ${response.status}`)
      if (response.ok) return
    } catch {
      say(`    → ${url} does not respond`)
    }
    await pauseAfter(++failures)
  }
}
