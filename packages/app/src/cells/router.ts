import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Maps } from './directory.ts'

/** Running HAProxies with `deploy/haproxy/cells.cfg`. */
interface Routers {
  readonly sockets: readonly string[]
  /** Where their configuration says that the maps are. */
  readonly maps: string
}

/** So many commands HAProxy takes in a line: a line must fit its buffer. */
const AT_ONCE = 100
/** A router that ends is started again by its init system meanwhile. */
const STARTS_MS = 10_000
const RETRY_MS = 50

/** Enters what leads to cells in the maps of running routers; what is there with another cell is changed. */
export async function setRoutes({ sockets, maps: folder }: Routers, maps: Maps): Promise<void> {
  const entries = Object.entries(maps).flatMap(([name, of]) =>
    of.map(([key, cell]) => `${folder}/${name} ${key} ${cell}`),
  )
  await Promise.all(
    sockets.map(async (socket) => {
      for (let first = 0; first < entries.length; first += AT_ONCE) {
        const some = entries.slice(first, first + AT_ONCE)
        const said = await saidTo(socket, 'set', some)
        const unknown = some.filter((_, i) => said[i] !== '')
        if (unknown.length > 0) await saidTo(socket, 'add', unknown)
      }
    }),
  )
}

/** What HAProxy says to each command, also if it is being started again: repeated commands change nothing more. */
async function saidTo(socket: string, verb: 'set' | 'add', entries: readonly string[]): Promise<string[]> {
  const untilMs = performance.now() + STARTS_MS
  for (;;)
    try {
      return await ask(socket, verb, entries)
    } catch (error) {
      if (performance.now() > untilMs) throw error
      await sleep(RETRY_MS)
    }
}

/** What HAProxy says to each command: nothing where it was carried out. An empty line ends what it says. */
const ask = (socket: string, verb: 'set' | 'add', entries: readonly string[]): Promise<string[]> =>
  new Promise((resolve, reject) => {
    const commands = entries.map((entry) => `${verb} map ${entry}`).join(';')
    const connection = createConnection(socket, () => connection.write(`${commands}\n`))
    let text = ''
    connection.on('data', (chunk) => (text += chunk.toString()))
    connection.once('error', reject)
    connection.once('close', () => {
      const said: string[] = []
      let words = ''
      for (const line of text.split('\n').slice(0, -1))
        if (line === '') {
          said.push(words)
          words = ''
        } else words += line
      if (said.length === entries.length) resolve(said)
      else
        reject(new Error(`HAProxy responded to ${said.length} of ${entries.length} commands: ${text.trim()}`))
    })
  })
