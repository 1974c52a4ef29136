import { explainDatabaseError } from '@svc/cli/explain-database-error'
import { newProgram } from '@svc/cli/program'
import { describeError, wantsJson } from '@svc/cli/report-error'
import { RemoteError } from '@svc/cli/usage-error'
import { type Command, CommanderError } from 'commander'
import { expect, vi } from 'vitest'
import type { Json } from './client.ts'
import { MASTER_KEY, type TestService } from './service.ts'

export interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Wrong arguments end the call and not this process. */
function withoutExit(command: Command): Command {
  for (const each of command.commands) withoutExit(each as Command)
  return command.exitOverride()
}

/** Puts the variables back in place: `process.env` is no common object, and stays the one it is. */
function restoreEnvironment(previous: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in previous)) delete process.env[name]
  Object.assign(process.env, previous)
}

const exitCodeNow = (): number => Number(process.exitCode ?? 0)

/** One at a time: in this process standard output and the environment are shared. */
let turn: Promise<unknown> = Promise.resolve()

/**
 * The program of the command line, in this process: the same code as `svc`, without the seconds that each process takes
 * to start. Some tests run it as the process that people run.
 */
export function runHere(args: readonly string[], settings: Readonly<Record<string, string>>): Promise<Run> {
  const run = async (): Promise<Run> => {
    const { stdout, stderr } = process
    const texts = { stdout: '', stderr: '' }
    const previous = { ...process.env }
    const { exitCode } = process
    const writes = [stdout, stderr].map((stream) => vi.spyOn(stream, 'write'))
    writes[0]!.mockImplementation((text) => ((texts.stdout += String(text)), true))
    writes[1]!.mockImplementation((text) => ((texts.stderr += String(text)), true))
    Object.assign(process.env, settings)
    process.exitCode = undefined
    try {
      await withoutExit(await newProgram()).parseAsync([...args], { from: 'user' })
      return { code: exitCodeNow(), ...texts }
    } catch (error) {
      if (error instanceof CommanderError) return { code: error.exitCode, ...texts }
      const { text } = describeError(error, wantsJson(args), explainDatabaseError)
      const code = error instanceof RemoteError ? error.exitCode : 1
      return { code, stdout: texts.stdout, stderr: `${texts.stderr}${text.trimEnd()}` }
    } finally {
      for (const write of writes) write.mockRestore()
      restoreEnvironment(previous)
      process.exitCode = exitCode
    }
  }
  const mine = turn.then(run)
  turn = mine.catch(() => undefined)
  return mine
}

interface Printed {
  readonly code: number | null
  /** What the command printed as JSON. */
  readonly out: Json
  readonly stderr: string
}

/** `svc admin … --json` on the database of a service: `svc` with what became of it, `done` with what it printed. */
export function adminCli(on: () => TestService, env: Readonly<Record<string, string>>) {
  const svc = async (...args: string[]): Promise<Printed> => {
    const settings = { DATABASE_URL: on().db.url, SVC_MASTER_KEY: MASTER_KEY, ...env }
    const { code, stdout, stderr } = await runHere(['admin', ...args, '--json'], settings)
    return { code, out: stdout === '' ? undefined : JSON.parse(stdout), stderr }
  }
  const done = async (...args: string[]): Promise<Json> => {
    const { code, out, stderr } = await svc(...args)
    expect(code, stderr).toBe(0)
    return out
  }
  return { svc, done }
}
