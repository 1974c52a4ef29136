import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Webhook } from 'standardwebhooks'
import { writeWhole } from '../platform/write-whole.ts'
import { pauseAfter, type TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

interface Position {
  /** Sequence of the last event that was printed and taken. */
  after: number
  /** Signs what is forwarded; stays the same over restarts. */
  readonly secret: string
}

interface Told {
  readonly id: string
  readonly sequence: number
  readonly type: string
  readonly createdOn: string
}

export interface Listening {
  readonly session: TenantSession
  readonly positionFile: string
  readonly forward: string | undefined
  /** Where to begin when there is no position yet. */
  readonly from: number
  readonly say: (line: string) => void
}

/**
 * Prints every event of the feed and forwards it, in order, each until it is taken. The position is written after that,
 * so a restart repeats at most the last event and misses none.
 */
export async function listenToEvents({
  session,
  positionFile,
  forward,
  from,
  say,
}: Listening): Promise<never> {
  const position: Position = (await readPosition(positionFile)) ?? {
    after: from,
    secret: `whsec_${randomBytes(32).toString('base64')}`,
  }
  await writePosition(positionFile, position)
  if (forward) say(`Signing with ${position.secret}`)
  for (let failures = 0; ; ) {
    try {
      for await (const data of streamOf(session, position.after)) {
        failures = 0
        const event = JSON.parse(data) as Told
        say(`${event.createdOn}  #${event.sequence}  ${event.type}  ${event.id}`)
        say(JSON.stringify((JSON.parse(data) as { data: unknown }).data, null, 2).replace(/^/gm, '    '))
        if (forward) await forwardUntilTaken(forward, event, data, position.secret, say)
        position.after = event.sequence
        await writePosition(positionFile, position)
      }
    } catch (error) {
      if (error instanceof UsageError) throw error
      if (failures === 0) say('The service cannot be reached; trying again …')
      failures++
    }
    await pauseAfter(Math.max(1, failures))
  }
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
    throw new UsageError(`${file} holds no position; delete it to begin anew`)
  return position
}

const writePosition = (file: string, position: Position): Promise<void> =>
  writeWhole(file, `${JSON.stringify(position, null, 2)}\n`)

/** The `data` of each server-sent event, until the connection ends. */
async function* streamOf(session: TenantSession, after: number): AsyncGenerator<string> {
  // From 0 means whatever is kept.
  const headers = after > 0 ? { 'last-event-id': String(after) } : {}
  const answer = await session.fetch('/api/v0/events/stream', { headers })
  if (answer.status === 401 || answer.status === 403) throw new UsageError('The credentials are not taken')
  if (answer.status === 410)
    throw new UsageError(
      `Events after number ${after} are no longer kept. Begin anew: delete the position file, or name one with --position`,
    )
  if (!answer.ok || !answer.body) throw new Error(`the stream answered ${answer.status}`)
  let text = ''
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
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
  { id }: Told,
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
      const answer = await fetch(url, {
        method: 'POST',
        body,
        headers,
        redirect: 'manual',
        signal: AbortSignal.timeout(10_000),
      })
      await answer.body?.cancel()
      say(`    → ${answer.status}`)
      if (answer.ok) return
    } catch {
      say(`    → ${url} does not answer`)
    }
    await pauseAfter(++failures)
  }
}
