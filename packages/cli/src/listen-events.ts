import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { writeWhole } from '@svc/platform/write-whole'
import { Webhook } from 'standardwebhooks'
import { createdAtMs, type FeedStart, findPosition } from './feed-position.ts'
import { failureIn, pauseAfter, type TenantSession } from './tenant-session.ts'
import { RemoteError, UsageError } from './usage-error.ts'

interface Position {
  /** Sequence of the last event that was printed and taken. */
  after: number
  /** Signs what is forwarded; stays the same over restarts. */
  readonly secret: string
}

interface Reported {
  readonly id: string
  readonly sequence: number
  readonly type: string
  readonly createdOn: string
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
export async function listenToEvents(listening: Listening): Promise<never> {
  const { session, from, say, types = [] } = listening
  const since = from instanceof Date ? from.getTime() : Number.NEGATIVE_INFINITY
  let position: Position | undefined
  for (let failures = 0; ; ) {
    try {
      position ??= await beginning(listening)
      for await (const data of streamOf(session, position.after)) {
        failures = 0
        const event = JSON.parse(data) as Reported
        const isWanted = types.length === 0 || types.includes(event.type)
        if (isWanted && createdAtMs(event) >= since) await pass(event, data, position, listening)
        position.after = event.sequence
        await writePosition(listening.positionFile, position)
      }
    } catch (error) {
      const isGone = error instanceof RemoteError && error.code === 'unreachable'
      if (error instanceof UsageError && !isGone) throw error
      if (failures === 0) say('The service cannot be reached; trying again …')
      failures++
    }
    await pauseAfter(Math.max(1, failures))
  }
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

async function pass(event: Reported, data: string, { secret }: Position, { forward, say }: Listening) {
  say(`${event.createdOn}  #${event.sequence}  ${event.type}  ${event.id}`)
  say(JSON.stringify((JSON.parse(data) as { data: unknown }).data, null, 2).replace(/^/gm, '    '))
  if (forward) await forwardUntilTaken(forward, event, data, secret, say)
}

async function readPosition(file: string): Promise<Position | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch {
    return undefined
  }
  const position = JSON.parse(text) as Position
  if (!Number.isSafeInteger(position.after))
    throw new UsageError(`${file} contains no position; delete it to start again`)
  return position
}

const writePosition = (file: string, position: Position): Promise<void> =>
  writeWhole(file, `${JSON.stringify(position, null, 2)}\n`)

/** The `data` of each server-sent event, until the connection ends. */
async function* streamOf(session: TenantSession, after: number): AsyncGenerator<string> {
  const headers = { 'last-event-id': String(after) }
  const response = await session.fetch('/api/v0/events/stream', { headers })
  if (response.status === 401 || response.status === 403)
    throw new UsageError('The service does not accept the credentials')
  if (!response.ok || !response.body) {
    const { error, description } = failureIn(await response.text()) ?? {}
    if (error === 'events_forgotten' || error === 'events_ahead')
      throw new UsageError(`${description}. Start again with --from start or --from now.`)
    throw new Error(`the stream returned ${response.status}`)
  }
  let text = ''
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1]
      text = text.slice(end + 2)
      if (data !== undefined) yield data
    }
  }
}

async function forwardUntilTaken(
  url: string,
  { id }: Reported,
  body: string,
  secret: string,
  say: (line: string) => void,
): Promise<void> {
  for (let failures = 0; ; ) {
    const at = new Date()
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
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
