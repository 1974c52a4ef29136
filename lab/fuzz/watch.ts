import { request } from 'undici'
import { SHED } from './judge.ts'
import type { Finding } from './run.ts'
import { headersOf, type Target } from './target.ts'

/** Asks the service's own metrics every second how long its event loop stood still, and what it holds. */
export function watchProcess({ baseUrl }: Target, log: (line: string) => void) {
  let loopDelayMaxMs = 0
  const resident: number[] = []
  // The first look sets the metric back, which began with the start of the process.
  const look = async () => {
    const text = await (await fetch(`${baseUrl}/metrics`)).text()
    const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
    if (resident.length > 0)
      loopDelayMaxMs = Math.max(loopDelayMaxMs, figure('svc_nodejs_eventloop_lag_max_seconds') * 1_000)
    resident.push(figure('svc_process_resident_memory_bytes') / 2 ** 20)
  }
  let ticks = 0
  look().catch(() => undefined)
  const timer = setInterval(() => {
    look().catch(() => undefined)
    if (++ticks % 20 === 0)
      log(`event loop ${Math.round(loopDelayMaxMs)} ms at most, ${Math.round(resident.at(-1) ?? 0)} MiB`)
  }, 1_000)
  return {
    async end() {
      clearInterval(timer)
      await look()
      return {
        loopDelayMaxMs: Math.round(loopDelayMaxMs),
        residentMiB: {
          first: Math.round(resident[0]!),
          last: Math.round(resident.at(-1)!),
          max: Math.round(Math.max(...resident)),
        },
      }
    },
  }
}

const found = (problem: string, received: string, where = 'log'): Finding => ({
  where,
  problem,
  seed: 0,
  replay: '',
  received,
})

/** Streams that a tenant may have open at the same time (`stream-events.ts`). */
const STREAMS = 5
const PATIENCE_MS = 15_000

/** Tenants who cannot open all their streams: others of theirs were left open by requests that are over. */
export async function streamFindings({ baseUrl, tenants, victims }: Target): Promise<Finding[]> {
  const statuses = async (headers: Record<string, string>) => {
    const open = await Promise.all(
      Array.from({ length: STREAMS }, () =>
        request(`${baseUrl}/api/v0/events/stream`, { headers, reset: true }),
      ),
    )
    for (const { body } of open) body.on('error', () => undefined).destroy()
    return open.map(({ statusCode }) => statusCode)
  }
  const free = async (headers: Record<string, string>) => {
    const untilMs = Date.now() + PATIENCE_MS
    for (;;) {
      const now = await statuses(headers)
      if (now.every((status) => status === 200) || Date.now() > untilMs) return now
    }
  }
  const all = await Promise.all(
    [...tenants, ...victims].map(async (tenant) => [tenant, await free(headersOf(tenant))] as const),
  )
  return all.flatMap(([{ tenantId }, now]) =>
    now.every((status) => status === 200)
      ? []
      : [found(`streams of ${tenantId} are left open`, now.join(' '), 'streams')],
  )
}

/** What the log says that no answer did: unexpected errors, and secrets. */
export async function logFindings({ process, secrets }: Target): Promise<Finding[]> {
  const lines = process.written().split('\n')
  const problems = lines.filter(
    (line) => /"level":(?:50|60)/.test(line) && ![...SHED].some((code) => line.includes(`"error":"${code}"`)),
  )
  const strange = lines.filter((line) => line !== '' && !line.startsWith('{'))
  const leaks = secrets.flatMap((secret, i) =>
    lines.some((line) => line.includes(secret)) ? [found(`secret ${i} in the log`, '')] : [],
  )
  return [
    ...problems.slice(0, 5).map((line) => found('an error in the log', line.slice(0, 2_000))),
    ...strange.slice(0, 5).map((line) => found('a line in the log that is no entry', line)),
    ...leaks,
  ]
}
