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
    // No file of a copy, which would be in the folder of the tests.
    const options = ['--bind', '127.0.0.1', '--save', '', '--repl-diskless-load', 'swapdb']
    options.push('--appendonly', 'no')
    if (this.#password !== '') options.push('--requirepass', this.#password)
    this.#child = spawn(REDIS!, ['--port', String(this.port), ...options], { stdio: 'ignore' })
    while (!(await this.#listens())) await sleep(20)
  }

  /** A command of an administrator, such as `config set maxmemory 1`. */
  run(command: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, '127.0.0.1', () => socket.write(`${command}\r\n`))
      socket.once('data', (reply) => {
        socket.destroy()
        if (reply.toString().startsWith('+OK')) resolve()
        else reject(new Error(reply.toString()))
      })
      socket.once('error', reject)
    })
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
