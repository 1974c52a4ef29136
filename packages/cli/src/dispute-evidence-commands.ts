import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  submitEvidenceInConsole,
  uploadAttachmentInConsole,
} from '@svc/console-api/faces/dispute-of-merchant'
import { recordReceipt, requestEvidenceInConsole } from '@svc/console-api/faces/dispute-operations'
import { fail } from '@svc/contract/errors'
import { ATTACHMENT_BYTES_MAX, ATTACHMENTS_EACH_MAX } from '@svc/core/payments/disputes/evidence'
import {
  evidenceOfRun,
  filesFor,
  type Submission,
  sendInRun,
} from '@svc/core/payments/disputes/evidence-sending'
import { findDispute } from '@svc/core/payments/disputes/find-dispute'
import type { Caller } from '@svc/server/http/operation'
import type { Command } from 'commander'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { addOperation, callOperation } from './operation-command.ts'
import { printJson, printRows } from './print.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

/** Evidence of disputes: submitted for a merchant, sent to the bank, and its receipt. */
export function addEvidenceCommands(group: Command): void {
  addOperation(group, submitEvidenceInConsole, {
    name: 'submit',
    given: { attachmentIds: undefined },
    extra: {
      attach: {
        items: { type: 'string' },
        description: `up to ${ATTACHMENTS_EACH_MAX} files: PDF, JPEG or PNG, at most 5 MB each`,
      },
    },
    resolve: withAttachments,
    description: 'submit evidence for the merchant, before the deadline; more can follow until then',
    example: 'svc admin dispute submit dsp_… --evidence "Delivered on 3 April" --attach delivery-note.pdf',
  })
  group
    .command('export <folder>')
    .description(
      'mark all evidence that waits as sent, in a new run, and write the run into a folder for the bank',
    )
    .option('--run <runId>', 'write this earlier run again and send nothing')
    .option('--dispute <disputeId>', 'only of this dispute')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin dispute export evidence')
    .action(exportRun)
  addOperation(group, recordReceipt, {
    name: 'receipt',
    by: ['receipt'],
    description: 'record the receipt that the bank gave for evidence that was sent',
    example: 'svc admin dispute receipt dsp_… NPCI26040300017',
  })
  addOperation(group, requestEvidenceInConsole, {
    name: 'ask',
    flags: { request: { name: 'for' } },
    description: 'ask the merchant for more evidence; it reads this in the portal and gets an event',
    example: 'svc admin dispute ask dsp_… --for "The signed delivery note"',
  })
}

/** Uploads the files of `--attach`, and names them by their ids. */
async function withAttachments(
  { attach, ...given }: Readonly<Record<string, unknown>>,
  context: CommandContext,
  caller: Caller,
) {
  const files = (attach ?? []) as readonly string[]
  if (files.length > ATTACHMENTS_EACH_MAX)
    throw new UsageError(`At most ${ATTACHMENTS_EACH_MAX} files are submitted at once.`)
  const attachmentIds: string[] = []
  for (const file of files) {
    const name = basename(file)
    const rawBody = await readFile(file)
    if (rawBody.length > ATTACHMENT_BYTES_MAX) throw new UsageError(`${name} is larger than 5 MB.`)
    const input = { params: { disputeId: given['disputeId'] }, query: { name }, rawBody }
    const { body } = await callOperation(context, uploadAttachmentInConsole, caller, input)
    attachmentIds.push((body as { readonly attachmentId: string }).attachmentId)
  }
  return { ...given, attachmentIds }
}

interface ExportOptions extends Json {
  readonly run?: string
  readonly dispute?: string
}

async function exportRun(folder: string, { run, dispute: only, json = false }: ExportOptions): Promise<void> {
  const { runId, submissions } = await withInstallation(async (context) => {
    const { clock, commands, database } = context
    const services = { clock, commands, database, random: context.keyMaker.random }
    const actor = await moneyActor(context, 'contest')
    if (only !== undefined && !(await database.operate((tx) => findDispute(tx, only))))
      fail('dispute_not_found')
    const sentIn = run ?? (await sendInRun(services, only ?? null, { actor })).runId
    const ofRun = await database.operate((tx) => evidenceOfRun(tx, sentIn))
    if (run !== undefined && ofRun.length === 0) throw new UsageError(`There is no run ${run}.`)
    for (const each of ofRun) await writeSubmission(context, folder, each)
    return { runId: sentIn, submissions: ofRun }
  })
  const rows = submissions.map(({ caseReference, disputeId, evidenceId, sentAt }) => ({
    caseReference,
    disputeId,
    evidenceId,
    sentAt,
  }))
  process.stderr.write(
    rows.length === 0
      ? 'No evidence waits to be sent.\n'
      : `${rows.length} submissions in run ${runId}, in ${folder}. Write it again with: svc admin dispute export ${folder} --run ${runId}\n`,
  )
  if (json) printJson({ runId, submissions: rows })
  else printRows(rows, false)
}

/** One at a time: with their attachments they are large. */
async function writeSubmission(
  { config, database, keyMaker: { keyring } }: CommandContext,
  folder: string,
  submission: Submission,
): Promise<void> {
  const files = await database.operate((tx) => filesFor({ config, keyring }, tx, [submission]))
  for (const { content, name } of files) {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  }
}
