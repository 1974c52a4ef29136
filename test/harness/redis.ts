import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'

const CANDIDATES = [process.env['REDIS_SERVER'], '/usr/bin/redis-server', '/usr/bin/valkey-server']

/** The program of Redis or Valkey, or nothing where none is installed. */
export const REDIS = CANDIDATES.find((path) => path !== undefined && existsSync(path))

/** A real store on a port of its own, in memory only; it can die and come back there. */
export class RedisServer {
  readonly port: number
  readonly #password: string
  #child: ChildProcess | undefined

  private constructor(port: number, password: string) {
    this.port = port
    this.#password = password
  }

  static async open(password = ''): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), password)
    await server.start()
    return server
  }

  async start(): Promise<void> {
    const options = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    if (this.#password !== '') options.push('--requirepass', this.#password)
    this.#child = spawn(REDIS!, ['--port', String(this.port), ...options], { stdio: 'ignore' })
    while (!(await this.#listens())) await sleep(20)
  }

  /** Takes connections still, and answers nothing until it goes on. */
  hang(): void {
    this.#child!.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child!.kill('SIGCONT')
  }

  /** Does nothing to one that is dead already. */
  async kill(): Promise<void> {
    const child = this.#child!
    const ended = once(child, 'exit')
    if (child.exitCode === null && child.signalCode === null) await (child.kill('SIGKILL'), ended)
  }

  #listens(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
  }
}
