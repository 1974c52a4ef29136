import { readFile } from 'node:fs/promises'
import { compareHeads, notesOf, publishedHeads } from '@svc/core/webhooks/publish-heads'
import { writeWhole } from '@svc/platform/write-whole'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { printJson } from './print.ts'
import { UsageError } from './usage-error.ts'

/** What operators do with all of them. */
export function addFeedAdminCommands(admin: Command): void {
  const events = admin.command('events').description('the signed heads of the tenants’ event feeds')
  events
    .command('heads <file>')
    .description('write the heads of all tenants to a file, without balances, for publication')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  svc admin events heads heads-2026-11-28.txt')
    .action(writeHeads)
  events
    .command('compare <file>')
    .description('prove that the feeds contain what was published in a file; exit code 1 where one does not')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  svc admin events compare heads-2026-11-28.txt')
    .action(compare)
}

async function writeHeads(file: string, { json = false }: { readonly json?: boolean }): Promise<void> {
  const notes = await withInstallation(async ({ database, keyMaker: { keyring } }) => {
    const all: string[] = []
    for await (const note of publishedHeads(database, keyring)) all.push(note)
    return all
  })
  await writeWhole(file, notes.join('\n'))
  if (json) printJson({ file, heads: notes.length })
  else process.stdout.write(`${notes.length} heads written to ${file}\n`)
}

async function compare(file: string, { json = false }: { readonly json?: boolean }): Promise<void> {
  const notes = notesOf(await readFile(file, 'utf8'))
  if (notes.length === 0) throw new UsageError(`${file} contains no heads`)
  const compared = await withInstallation(({ database, keyMaker: { keyring } }) =>
    compareHeads(database, keyring, notes),
  )
  const { heads, problems } = compared
  if (json) printJson(compared)
  else
    process.stdout.write(
      problems.length > 0 ? `${problems.join('\n')}\n` : `All ${heads} heads are part of today’s feeds.\n`,
    )
  if (problems.length > 0) process.exitCode = 1
}
