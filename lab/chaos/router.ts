import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/harness/free-port.ts'
import { type Member, ROOT } from './members.ts'

export type Cell = 'a' | 'b'

/** Where the router listens: for callers, and for each cell past the maps. */
export interface RouterPorts {
  readonly callers: number
  readonly a: number
  readonly b: number
}

export const routerPorts = async (): Promise<RouterPorts> => ({
  callers: await freePort(),
  a: await freePort(),
  b: await freePort(),
})

/** HAProxy with `deploy/haproxy/cells.cfg`, started again whenever it ends, as an init system would. */
export class Router {
  readonly baseUrl: string
  readonly maps: string
  readonly socket: string
  readonly #file: string
  readonly #log: string[] = []
  #child: ChildProcess | undefined
  #stopped = false

  private constructor(folder: string, port: number) {
    this.baseUrl = `http://127.0.0.1:${port}`
    this.maps = join(folder, 'maps')
    this.socket = join(folder, 'admin.sock')
    this.#file = join(folder, 'haproxy.cfg')
  }

  static async open(
    folder: string,
    ports: RouterPorts,
    members: Readonly<Record<Cell, readonly Member[]>>,
  ): Promise<Router> {
    const router = new Router(folder, ports.callers)
    await mkdir(router.maps, { recursive: true })
    for (const name of ['tenants', 'keys', 'references', 'ranges'])
      await writeFile(join(router.maps, `${name}.map`), '')
    const shipped = await readFile(join(ROOT, 'deploy/haproxy/cells.cfg'), 'utf8')
    const config = shipped
      // It does not start where it may not open two files for each connection.
      .replace('maxconn 20000', 'maxconn 500')
      .replace(/bind :8443 .*/, `bind 127.0.0.1:${ports.callers}`)
      .replace('192.0.2.0/24', '127.0.0.0/8')
      .replaceAll('/etc/haproxy/maps', router.maps)
      .replace('/run/haproxy/admin.sock', router.socket)
      .replace(/bind \S+:8181/, `bind 127.0.0.1:${ports.a}`)
      .replace(/bind \S+:8182/, `bind 127.0.0.1:${ports.b}`)
      .replaceAll(/^ {2}server ([ab])(\d) \S+\n/gm, (_, cell: Cell, n: string) => {
        const member = members[cell][Number(n) - 1]
        return member ? `  server ${cell}${n} ${new URL(member.baseUrl).host}\n` : ''
      })
    await writeFile(router.#file, config)
    router.#start()
    for (let tries = 0; !(await router.isReady()); tries++) {
      if (tries > 200) throw new Error(`HAProxy does not serve: ${router.#log.slice(0, 8).join('')}`)
      await sleep(50)
    }
    return router
  }

  readonly #endWithUs = (): void => void this.#child?.kill('SIGKILL')

  #start(): void {
    const child = spawn('haproxy', ['-db', '-f', this.#file], { stdio: ['ignore', 'ignore', 'pipe'] })
    child.once('error', (error) => this.#log.push(`${error.message}\n`))
    child.stderr.on('data', (part: Buffer) => this.#log.push(part.toString()))
    process.once('exit', this.#endWithUs)
    child.once('exit', () => {
      process.off('exit', this.#endWithUs)
      if (!this.#stopped) setTimeout(() => !this.#stopped && this.#start(), 50)
    })
    this.#child = child
  }

  isReady(): Promise<boolean> {
    return fetch(`${this.baseUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
      async (response) => (await response.text(), response.status === 200),
      () => false,
    )
  }

  /** Ends it with SIGKILL; another one is started. */
  async kill(): Promise<void> {
    const child = this.#child!
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#child?.exitCode === null && this.#child.signalCode === null) await this.kill()
  }
}
