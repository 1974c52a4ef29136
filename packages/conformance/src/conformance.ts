import type { Credentials } from './credentials.ts'
import { type Difference, differencesOf, type Recording } from './drift.ts'
import { Http } from './http.ts'
import { Recorder } from './recorder.ts'
import { Redactor } from './redact.ts'
import { type Selection, selectChecks } from './registry.ts'
import { type Result, runChecks } from './run.ts'
import { Subject } from './subject.ts'
import { Violation } from './verdict.ts'

export interface Plan extends Selection {
  readonly baseUrl: string
  readonly credentials: Credentials
  /** Skipped checks count as failures. */
  readonly strict?: boolean
  /** Milliseconds that one response may take. */
  readonly timeoutMs: number
  /** Milliseconds after which nothing more is sent. */
  readonly totalMs: number
}

/** There is no server to check: nothing at the address speaks HTTP. */
export class Unreachable extends Error {
  override name = 'Unreachable'
}

/** Holds a server to the promises of the selection. Throws `Unreachable`, and an Error for ids that do not exist. */
export const checkConformance = (plan: Plan): Promise<Result> => run(plan, {})

/** The same, one check after the other, with everything that was sent and received. */
export async function recordConformance(plan: Plan): Promise<Recording> {
  const recorder = new Recorder()
  const result = await run(plan, { parallel: 1, recorder })
  return { result, exchanges: recorder.exchanges, credentials: plan.credentials }
}

/** What differs between two servers, each difference once. */
export async function compareServers(plan: Plan, reference: Plan): Promise<readonly Difference[]> {
  const [server, first] = await Promise.all([recordConformance(plan), recordConformance(reference)])
  return differencesOf(server, first, await recordConformance(reference))
}

async function run(
  plan: Plan,
  options: { readonly parallel?: number; readonly recorder?: Recorder },
): Promise<Result> {
  const { baseUrl, credentials, profile, timeoutMs, totalMs } = plan
  const sections = selectChecks(plan)
  if (sections.length === 0) throw new Error(`none of these checks is in the profile ${profile}`)
  const http = new Http(baseUrl, new Redactor(), { timeoutMs, totalMs }, options.recorder)
  try {
    const subject = new Subject(http, credentials, profile)
    await ping(subject)
    return await runChecks(subject, sections, plan.strict ?? false, options)
  } finally {
    await http.close()
  }
}

/** Any response will do: whether it is the right one, the checks find out. */
async function ping(subject: Subject): Promise<void> {
  try {
    await subject.send({ method: 'GET', path: '/' })
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    throw new Unreachable(`expected ${error.expected}, received ${error.received}`)
  }
}

/** Reads an address; throws an Error that says what is wrong with it. */
export function readBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new Error(`${text} is no base URL: give one such as http://127.0.0.1:8080`)
  if (url.username || url.password || url.search || url.hash)
    throw new Error('A base URL has no user, no query and no fragment: http://127.0.0.1:8080')
  return url
}

/** Whether requests stay on this machine. */
export const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
