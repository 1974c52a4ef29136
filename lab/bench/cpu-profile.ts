import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

interface Frame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: Frame
  readonly children?: readonly number[]
}

interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Shares of the busy time of a process of Node, largest first; they add up to 1. */
export type Shares = readonly (readonly [part: string, share: number])[]

const SAMPLE_MICROS = 400
const READY_MS = 10_000

/** Sends the commands of the Chrome DevTools Protocol to a process whose inspector listens. */
async function openInspector(port: number) {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string
  }[]
  const socket = new WebSocket(target!.webSocketDebuggerUrl)
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown }
    waiting.get(id)?.(result)
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error('the inspector refused the connection')))
  })
  let sent = 0
  return {
    send: (method: string, params = {}): Promise<unknown> =>
      new Promise((resolve) => {
        const id = ++sent
        waiting.set(id, resolve)
        socket.send(JSON.stringify({ id, method, params }))
      }),
    close: () => socket.close(),
  }
}

/** The inspector of a process that was started with `--inspect-port`: a signal opens it. */
async function inspect(pid: number, port: number) {
  process.kill(pid, 'SIGUSR1')
  for (const endMs = performance.now() + READY_MS; ; ) {
    try {
      return await openInspector(port)
    } catch (error) {
      if (performance.now() > endMs) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** What a process of Node does while `work` lasts. */
export async function cpuProfile(pid: number, port: number, work: () => Promise<unknown>): Promise<Shares> {
  const inspector = await inspect(pid, port)
  try {
    await inspector.send('Profiler.enable')
    await inspector.send('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS })
    await inspector.send('Profiler.start')
    await work()
    const { profile } = (await inspector.send('Profiler.stop')) as { profile: Profile }
    return await shares(profile)
  } finally {
    inspector.close()
  }
}

/** Where each source begins in a bundle: esbuild names it in a comment. */
async function sourcesOf(url: string): Promise<readonly (readonly [line: number, source: string])[]> {
  const lines = (await readFile(fileURLToPath(url), 'utf8')).split('\n')
  return lines.flatMap((text, line) => {
    const source = /^\s*\/\/ ((?:packages|node_modules|apps)\/\S+)$/.exec(text)?.[1]
    return source === undefined ? [] : [[line, source] as const]
  })
}

const PARTS: readonly (readonly [pattern: RegExp, part: string])[] = [
  [/^node_modules\/pg/, 'statements and rows (pg)'],
  [/^packages\/platform\/src\/db\//, 'batches (platform/db)'],
  [/^packages\/server\//, 'operations over HTTP (server)'],
  [/^packages\/upi-qr\//, 'image of the code (upi-qr)'],
  [/^packages\/(?:core|kernel|contract|jwe)\//, 'rules and records (core)'],
  [/^packages\/platform\/src\/crypto\//, 'signatures and encryption (platform/crypto)'],
  [/^packages\/platform\//, 'log and metrics (platform)'],
  [/^node_modules\//, 'Fastify and other libraries'],
]
const WRITES = /^(?:writev|write(?:Utf8String|Latin1String|AsciiString|Buffer))$/
const UNKNOWN = 'other'

/** The part of a frame by itself; undefined where its caller decides. */
function ownPart({ functionName, url }: Frame, source: string | undefined): string | undefined {
  if (functionName === '(garbage collector)') return 'garbage collection'
  if (functionName === '(program)') return 'native code outside of JavaScript'
  if (source !== undefined) return PARTS.find(([pattern]) => pattern.test(source))?.[1]
  if (WRITES.test(functionName) && url === '') return 'writing to sockets'
  return undefined
}

/** Self time by part. Node's own frames count for pg where it called them, else for HTTP; native ones for their caller. */
async function shares({ nodes, samples, timeDeltas }: Profile): Promise<Shares> {
  const micros = new Map<number, number>()
  samples.forEach((id, n) => micros.set(id, (micros.get(id) ?? 0) + (timeDeltas[n] ?? 0)))
  const urls = new Set(nodes.map(({ callFrame }) => callFrame.url).filter((url) => url.startsWith('file:')))
  const sources = new Map(
    await Promise.all([...urls].map(async (url) => [url, await sourcesOf(url)] as const)),
  )
  const sourceOf = ({ url, lineNumber }: Frame) =>
    sources.get(url)?.findLast(([line]) => line <= lineNumber)?.[1]
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const totals = new Map<string, number>()
  const visit = (id: number, inherited: string): void => {
    const { callFrame, children = [] } = byId.get(id)!
    const isNodes = callFrame.url.startsWith('node:')
    const outer = inherited === UNKNOWN && isNodes ? 'HTTP and streams (Node)' : inherited
    const part = ownPart(callFrame, sourceOf(callFrame)) ?? outer
    if (callFrame.functionName !== '(idle)') totals.set(part, (totals.get(part) ?? 0) + (micros.get(id) ?? 0))
    for (const child of children) visit(child, part)
  }
  visit(nodes[0]!.id, UNKNOWN)
  const busy = [...totals.values()].reduce((sum, value) => sum + value, 0)
  return [...totals].map(([part, value]) => [part, value / busy] as const).sort((a, b) => b[1] - a[1])
}
