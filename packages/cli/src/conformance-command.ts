import { readFile, writeFile } from 'node:fs/promises'
import {
  checkConformance,
  compareServers,
  isLoopback,
  type Plan,
  readBaseUrl,
} from '@svc/conformance/conformance'
import { type Credentials, readCredentials } from '@svc/conformance/credentials'
import { selectChecks } from '@svc/conformance/registry'
import { driftJson, driftText } from '@svc/conformance/report-drift'
import { htmlReport } from '@svc/conformance/report-html'
import { junitReport } from '@svc/conformance/report-junit'
import { jsonReport, textReport } from '@svc/conformance/report-text'
import { type Result, verdictOf } from '@svc/conformance/run'
import type { Profile } from '@svc/conformance/subject'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { requireEncryptedWay } from './encrypted-way.ts'
import { printJson } from './print.ts'

interface Options {
  readonly credentials?: string
  readonly profile: Profile
  readonly section?: readonly string[]
  readonly only?: readonly string[]
  readonly list?: boolean
  readonly against?: string
  readonly reference?: string
  readonly referenceCredentials?: string
  readonly details?: boolean
  readonly json?: boolean
  readonly junit?: string
  readonly html?: string
  readonly strict?: boolean
  readonly timeout: number
  readonly yes?: boolean
}

/** Wrong usage, or no server: different from a server that does not conform (1). */
const EXIT_USAGE = 2
const EXIT_CODES = { conforms: 0, 'does not conform': 1, 'nothing checked': 3 } as const
const TOTAL_MS = 300_000

const seconds = (text: string): number => {
  const value = Number(text)
  if (!(value > 0 && value <= 300))
    throw new InvalidArgumentError('Give seconds, more than 0 and at most 300.')
  return value
}

export function addConformanceCommand(program: Command): void {
  program
    .command('conformance')
    .argument('[base_url]', 'the server to check, such as http://127.0.0.1:8080')
    .description('check a server against the specification, row by row')
    .option('-c, --credentials <file>', 'JSON in the shape of sandbox.json; what is missing skips its checks')
    .addOption(
      new Option('--profile <profile>', 'spec: the specification only; full: the decisions too')
        .choices(['spec', 'full'])
        .default('full'),
    )
    .option('--section <id...>', 'only these sections, such as 4.2 or 4')
    .option('--only <id...>', 'only these checks')
    .option('--list', 'show the checks and make none')
    .option('--strict', 'count a skipped check as failed, so that an incomplete credentials file is noticed')
    .option('--against <url>', 'report how this server differs from the one of --reference')
    .option('--reference <url>', 'the server to compare with')
    .option(
      '--reference-credentials <file>',
      'credentials for --reference, unless they are those of --credentials',
    )
    .option('--details', 'print everything about a server that fails, not only its causes')
    .option('--json', 'print JSON')
    .option('--junit <file>', 'also write JUnit XML')
    .option('--html <file>', 'also write a page to read')
    .option('--timeout <seconds>', 'maximum time for one response', seconds, 10)
    .option('--yes', 'do it although the server is not on this machine: the run creates codes and cards')
    .addHelpText(
      'after',
      `
Exit codes: 0 conforms, 1 does not, 2 wrong usage or no server, 3 nothing was checked for lack of credentials.
With --against and --reference: 0 no differences, 1 differences, 2 wrong usage or no server.

Examples:
  svc conformance http://127.0.0.1:8080 --credentials data/sandbox.json
  svc conformance http://127.0.0.1:8080 --credentials data/sandbox.json --section 4.2 5 --html report.html
  svc conformance https://partner.example --credentials theirs.json --profile spec --yes
  svc conformance --against https://staging.example --reference http://127.0.0.1:8080 --credentials data/sandbox.json --yes
  svc conformance --list --profile spec`,
    )
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : EXIT_USAGE))
    .action(conformance)
}

async function conformance(address: string | undefined, options: Options): Promise<void> {
  try {
    if (options.list) return list(options)
    if (options.against !== undefined || options.reference !== undefined) return await drift(options)
    const result = await check(address, options)
    if (options.junit !== undefined) await writeFile(options.junit, junitReport(result))
    if (options.html !== undefined) await writeFile(options.html, htmlReport(result))
    if (options.json) printJson(jsonReport(result))
    else {
      const colours = process.stdout.isTTY && !process.env['NO_COLOR']
      process.stdout.write(textReport(result, { colours, details: options.details === true }))
    }
    process.exitCode = EXIT_CODES[verdictOf(result)]
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = EXIT_USAGE
  }
}

async function check(address: string | undefined, options: Options): Promise<Result> {
  if (address === undefined)
    throw new Error('Say which server: svc conformance <base_url> --credentials <file>')
  return reaching(address, async () => checkConformance(await planOf(address, options)))
}

/** Compares two servers: 0 where they do not differ, 1 where they do. */
async function drift(options: Options): Promise<void> {
  const { against, reference, credentials, referenceCredentials = credentials } = options
  if (against === undefined || reference === undefined)
    throw new Error('Give two servers: svc conformance --against <url> --reference <url>')
  const plan = await planOf(against, options)
  const other = await planOf(reference, {
    ...options,
    ...(referenceCredentials && { credentials: referenceCredentials }),
  })
  const differences = await reaching(`${against} or ${reference}`, () => compareServers(plan, other))
  if (options.json) printJson(driftJson(differences))
  else process.stdout.write(driftText(differences))
  process.exitCode = differences.length === 0 ? EXIT_CODES.conforms : EXIT_CODES['does not conform']
}

async function planOf(address: string, options: Options): Promise<Plan> {
  const url = readBaseUrl(address)
  if (!isLoopback(url) && !options.yes)
    throw new Error(
      `${url.host} is not this machine. The run creates QR codes and gift cards there, and cancels codes: add --yes if that is right.`,
    )
  if (options.credentials !== undefined) requireEncryptedWay(url)
  const credentials = await readFrom(options.credentials)
  const { profile, section: sections = [], only = [], strict = false, timeout } = options
  const limits = { timeoutMs: timeout * 1_000, totalMs: TOTAL_MS }
  return { baseUrl: url.href, credentials, profile, sections, only, strict, ...limits }
}

async function reaching<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { name, message } = error as Error
    throw name === 'Unreachable'
      ? new Error(`Nothing responds at ${address}: ${message}. Is it running?`, { cause: error })
      : error
  }
}

async function readFrom(file: string | undefined): Promise<Credentials> {
  if (file === undefined) return {}
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`Cannot read ${file} (${code}). Sandboxes write data/sandbox.json when they start.`, {
      cause: error,
    })
  }
  try {
    return readCredentials(text)
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error })
  }
}

function list({ profile, section: sections = [], only = [], json }: Options): void {
  const chosen = selectChecks({ profile, sections, only })
  const rows = chosen.flatMap(({ id: section, checks }) =>
    checks.map(({ id, origin, source, title }) => ({ id, section, origin, source, title })),
  )
  if (json) return printJson(rows)
  for (const { id, origin, source, title } of rows)
    process.stdout.write(`${id}  [${origin === 'spec' ? source : `decision: ${source}`}]  ${title}\n`)
  process.stdout.write(`${rows.length} checks\n`)
}
