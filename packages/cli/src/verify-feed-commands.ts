import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeWhole } from '@svc/platform/write-whole'
import type { FeedVerification, RememberedHead } from '@svc/sdk'
import type { Command } from 'commander'
import { printJson } from './print.ts'
import { findTenant, type RemoteOptions, remote } from './remote.ts'
import { TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

interface VerifyOptions extends RemoteOptions {
  readonly heads?: string
  readonly new?: boolean
  readonly state?: string
}

/** What a tenant does with its own feed. */
export function addFeedCommands(program: Command): void {
  const events = program.command('events').description('the event feed of the profile')
  remote(
    events
      .command('verify')
      .description(
        'prove that no event or balance was changed since the head that the last run kept; exit code 1 if one was',
      )
      .option('--heads <file>', 'also compare with the heads in this file, which others published')
      .option('--new', 'read only events that are new since the last run')
      .option('--state <file>', 'where the head is kept; by default beside the profiles, or in DATA_DIR'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc events verify\n  svc events verify --heads heads-2026-11-28.txt\n  svc events verify --new --json',
    )
    .action(verify)
}

async function verify(options: VerifyOptions): Promise<void> {
  const { heads, json } = options
  if (heads !== undefined && options.new) throw new UsageError('--heads needs all events: leave out --new')
  const { baseUrl, credentials, folder, name } = await findTenant(options)
  const file = options.state ?? join(folder, 'heads', `${name}.json`)
  const session = new TenantSession(baseUrl, credentials)
  const remembered = await readHead(file)
  const published = heads === undefined ? undefined : await readFile(heads, 'utf8')
  const verifying = session.client.events.verify({ remembered, published, newOnly: options.new })
  const found = await session.reported('GET /api/v0/events/head', verifying)
  // A head that does not fit replaces none: the next run finds the same.
  if (found.problems.length === 0) await writeWhole(file, `${JSON.stringify(found.head, null, 2)}\n`)
  else process.exitCode = 1
  if (json) printJson(found)
  else process.stdout.write(`${linesOf(found, remembered, file).join('\n')}\n`)
}

function linesOf(
  { changes, erased, events, head, problems }: FeedVerification,
  remembered: RememberedHead | undefined,
  file: string,
): string[] {
  if (problems.length > 0)
    return [...problems.map((problem) => `CHANGED  ${problem}`), `The head in ${file} stays as it was.`]
  const since = remembered
    ? [
        `Since ${remembered.time}:`,
        ...(changes.length > 0 ? changes : ['nothing']).map((line) => `  ${line}`),
      ]
    : ['This was the first verification: the head is kept, and later ones are compared with it.']
  const gone = erased > 0 ? ` (${erased} without personal data, which was erased)` : ''
  return [
    `The feed is whole: ${head.size} events, of which ${events} were read${gone}.`,
    ...since,
    `Head kept in ${file}`,
  ]
}

async function readHead(file: string): Promise<RememberedHead | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const head = JSON.parse(text) as RememberedHead
    if (Number.isSafeInteger(head.size) && Array.isArray(head.peaks)) return head
  } catch {
    // Cut short, or of something else.
  }
  throw new UsageError(`${file} contains no head; restore it from a copy, or delete it to start again`)
}
