import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Dispute } from '@svc/core/payments/disputes/dispute'
import { ATTACHMENT_BYTES_MAX, type MediaType, mediaTypeOf } from '@svc/core/payments/disputes/evidence'
import {
  evidenceOfRun,
  filesFor,
  type Submission,
  sendInRun,
} from '@svc/core/payments/disputes/evidence-sending'
import { findDispute } from '@svc/core/payments/disputes/find-dispute'
import { EVIDENCE_REQUEST_MAX, requestEvidence } from '@svc/core/payments/disputes/request-evidence'
import { isReceipt, sendEvidence } from '@svc/core/payments/disputes/send-evidence'
import { submitEvidence } from '@svc/core/payments/disputes/submit-evidence'
import { uploadAttachment } from '@svc/core/payments/disputes/upload-attachment'
import { dispute } from '@svc/server/payments/disputes'
import type { Command } from 'commander'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printNoun, recordAfter } from './noun-commands.ts'
import { printJson, printRows } from './print.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

export const missing = (id: string) => `There is no dispute ${id}. List them with: svc admin dispute list`

/** Evidence of disputes: submitted for a merchant, sent to the bank, and its receipt. */
export function addEvidenceCommands(group: Command): void {
  group
    .command('submit <disputeId>')
    .description('submit evidence for the merchant, before the deadline; more can follow until then')
    .requiredOption('--evidence <text>', 'what shows that the payment is due, at most 4,000 characters')
    .option('--attach <file...>', 'up to 5 files: PDF, JPEG or PNG, at most 5 MB each')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin dispute submit dsp_… --evidence "Delivered on 3 April" --attach delivery-note.pdf',
    )
    .action(submit)
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
  group
    .command('receipt <disputeId> <receipt>')
    .description('record the receipt that the bank gave for evidence that was sent')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin dispute receipt dsp_… NPCI26040300017')
    .action(recordReceipt)
  group
    .command('ask <disputeId>')
    .description('ask the merchant for more evidence; it reads this in the portal and gets an event')
    .requiredOption('--for <text>', `what is missing, at most ${EVIDENCE_REQUEST_MAX} characters`)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin dispute ask dsp_… --for "The signed delivery note"')
    .action(askForMore)
}

const found = async ({ database }: CommandContext, disputeId: string): Promise<Dispute> => {
  const known = await database.operate((tx) => findDispute(tx, disputeId))
  if (!known) throw new UsageError(missing(disputeId))
  return known
}

interface Attached {
  readonly name: string
  readonly content: Buffer
  readonly mediaType: MediaType
}

const readAttached = (files: readonly string[]): Promise<Attached[]> =>
  Promise.all(
    files.map(async (file) => {
      const [name, content] = [basename(file), await readFile(file)]
      if (content.length > ATTACHMENT_BYTES_MAX) throw new UsageError(`${name} is larger than 5 MB.`)
      const mediaType = mediaTypeOf(content)
      if (!mediaType) throw new UsageError(`${name} is not PDF, JPEG or PNG, by its content.`)
      return { name, content, mediaType }
    }),
  )

async function submit(
  disputeId: string,
  { attach = [], evidence, json = false }: Json & { readonly attach?: string[]; readonly evidence: string },
): Promise<void> {
  if (evidence.trim() === '' || evidence.length > 4000)
    throw new UsageError('--evidence must have 1 to 4,000 characters.')
  if (attach.length > 5) throw new UsageError('At most 5 files are submitted at once.')
  const files = await readAttached(attach)
  const record = await withInstallation(async (context) => {
    const { commands } = context
    const actor = await moneyActor(context, 'contest')
    const { merchantId } = await found(context, disputeId)
    const audit = { actor, target: disputeId, tenantId: merchantId }
    const attachmentIds: string[] = []
    for (const { content, mediaType, name } of files) {
      const { attachment } = await commands
        .open(uploadAttachment)
        .run(
          { merchantId, disputeId, name, mediaType, content },
          { ...audit, action: 'dispute.attachment_uploaded' },
        )
      attachmentIds.push(attachment.attachmentId)
    }
    const done = await commands
      .open(submitEvidence)
      .run(
        { merchantId, disputeId, evidence, attachmentIds },
        { ...audit, action: 'dispute.evidence_submitted' },
      )
    return recordAfter(context, dispute, disputeId, done)
  })
  printNoun(record, json)
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
    if (only !== undefined) await found(context, only)
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

async function recordReceipt(disputeId: string, receipt: string, { json = false }: Json): Promise<void> {
  if (!isReceipt(receipt)) throw new UsageError('The receipt must have 1 to 100 characters of ASCII.')
  await contest(disputeId, json, ({ commands }, ids, audit) =>
    commands
      .open(sendEvidence)
      .run(
        { ...ids, sending: { receipt } },
        { ...audit, action: 'dispute.receipt_recorded', details: { receipt } },
      ),
  )
}

async function askForMore(
  disputeId: string,
  { for: wanted, json = false }: Json & { readonly for: string },
): Promise<void> {
  const request = wanted.trim()
  if (request === '' || request.length > EVIDENCE_REQUEST_MAX)
    throw new UsageError(`--for must have 1 to ${EVIDENCE_REQUEST_MAX} characters.`)
  await contest(disputeId, json, ({ commands }, ids, audit) =>
    commands
      .open(requestEvidence)
      .run({ ...ids, request }, { ...audit, action: 'dispute.evidence_requested' }),
  )
}

type Ids = Pick<Dispute, 'merchantId' | 'disputeId'>
type By = { readonly actor: string; readonly target: string; readonly tenantId: string }

/** Changes a dispute in the name of the operator, and prints it as it is then. */
async function contest(
  disputeId: string,
  json: boolean,
  change: (context: CommandContext, ids: Ids, audit: By) => Promise<object>,
): Promise<void> {
  const record = await withInstallation(async (context) => {
    const actor = await moneyActor(context, 'contest')
    const { merchantId } = await found(context, disputeId)
    const done = await change(
      context,
      { merchantId, disputeId },
      { actor, target: disputeId, tenantId: merchantId },
    )
    return recordAfter(context, dispute, disputeId, done)
  })
  printNoun(record, json)
}
