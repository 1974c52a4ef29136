import { createConnection } from 'node:net'
import type { Maps } from './directory.ts'

/** Running HAProxies with `deploy/haproxy/cells.cfg`. */
interface Routers {
  readonly sockets: readonly string[]
  /** Where their configuration says that the maps are. */
  readonly maps: string
}

/** Enters what leads to cells in the maps of running routers; what is there with another cell is changed. */
export async function setRoutes({ sockets, maps: folder }: Routers, maps: Maps): Promise<void> {
  for (const socket of sockets)
    for (const [name, entries] of Object.entries(maps))
      for (const [key, cell] of entries) {
        const entry = `${folder}/${name} ${key} ${cell}`
        const refused = await said(socket, `set map ${entry}`)
        if (refused !== '') await said(socket, `add map ${entry}`)
      }
}

/** What HAProxy says to a command: nothing where it was carried out. */
const said = (socket: string, command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const connection = createConnection(socket, () => connection.write(`${command}\n`))
    let text = ''
    connection.on('data', (chunk) => (text += chunk.toString()))
    connection.once('error', reject)
    connection.once('close', () => resolve(text.trim()))
  })
