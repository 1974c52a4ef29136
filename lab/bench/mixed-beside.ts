import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { openLoop } from './load.ts'

const HERE = fileURLToPath(import.meta.url)

/** What callers do beside the payments that are timed. */
export interface Beside {
  readonly baseUrl: string
  readonly port: number
  readonly callers: number
  readonly seconds: number
  readonly readsPerSecond: number
  readonly reads: readonly Buffer[]
  readonly createsPerSecond: number
  readonly creates: readonly Buffer[]
  /** Of merchants whose payments are exported, one after the other. */
  readonly tokens: readonly string[]
}

/**
 * A process of its own that does it, so that the clock of the payments stops for none of it. `goOn` resolves with the
 * number of exports.
 */
export async function openBeside(beside: Beside) {
  const child = fork(HERE, { serialization: 'advanced' })
  const next = async (): Promise<unknown> => {
    const [message] = (await Promise.race([once(child, 'message'), broken(child)])) as [unknown]
    return message
  }
  await next()
  return {
    async goOn(): Promise<number> {
      child.send(beside)
      return (await next()) as number
    },
    close: () => child.disconnect(),
  }
}

async function broken(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null]
  throw new Error(`the process beside the payments ended with ${code}`)
}

async function exportUntil(endMs: number, { baseUrl, tokens }: Beside): Promise<number> {
  let exports = 0
  for (; performance.now() < endMs; exports++) {
    const headers = { authorization: `Bearer ${tokens[exports % tokens.length]}`, accept: 'text/csv' }
    const response = await fetch(`${baseUrl}/api/v0/payments`, { headers })
    if (!response.ok) throw new Error(`an export failed: ${response.status}`)
    await response.text()
  }
  return exports
}

async function goOn(beside: Beside): Promise<number> {
  const { port, callers, seconds } = beside
  const cycle = (requests: readonly Buffer[]) => ({
    port,
    next: (n: number) => requests[n % requests.length],
  })
  const [exports] = await Promise.all([
    exportUntil(performance.now() + seconds * 1_000, beside),
    openLoop(cycle(beside.reads), callers, beside.readsPerSecond, seconds),
    openLoop(cycle(beside.creates), callers, beside.createsPerSecond, seconds),
  ])
  return exports
}

if (process.argv[1] === HERE) {
  const begin = async (beside: Beside): Promise<void> => {
    // Typed arrays arrive as plain ones.
    const buffers = (all: readonly Uint8Array[]) => all.map((each) => Buffer.from(each))
    const exports = await goOn({ ...beside, reads: buffers(beside.reads), creates: buffers(beside.creates) })
    process.send?.(exports)
  }
  process.on('message', (beside: Beside) => void begin(beside))
  process.send?.('ready')
}
