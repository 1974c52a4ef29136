import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { printJson, printRecord, printRows } from './print.ts'
import { readCount } from './read-count.ts'
import { readRupees } from './read-rupees.ts'
import { flat, openProfile, type RemoteOptions, remote } from './remote.ts'
import type { ApiPath } from './tenant-session.ts'

const PATH = '/api/v0/qr-code'

interface QrCode {
  readonly qrCodeId: string
  readonly qrCodeBase64?: string
}

interface CreateOptions extends RemoteOptions {
  readonly name?: string
  readonly amount?: number
  readonly fixed?: boolean
  readonly minimum?: number
  readonly multipleUse?: boolean
  readonly expiry?: string
  readonly reference?: string
  readonly description?: string
  readonly image?: string
}

interface CancelOptions extends RemoteOptions {
  readonly reason?: string
}

const pathOf = (qrCodeId: string): ApiPath => `${PATH}/${encodeURIComponent(qrCodeId)}`

/** QR codes of the merchant of a profile. */
export function addRemoteQrCommands(qr: Command): void {
  remote(qr.command('create'))
    .description('create a QR code of the merchant of a profile')
    .option('--name <text>', 'what the payer sees')
    .option('--amount <rupees>', 'the suggested amount, or the fixed one', readRupees)
    .option('--fixed', 'accept only --amount')
    .option('--minimum <rupees>', 'accept no less of an --amount that is not fixed', readRupees)
    .option('--multiple-use', 'accept more than one payment')
    .option('--expiry <time>', 'accept payments until then, such as 2026-12-31T23:59:59+05:30')
    .option('--reference <text>', 'your reference; a repeat with the same one returns the same code')
    .option('--description <text>', 'kept with the code')
    .option('--image <file>', 'write the image there, as PNG')
    .addHelpText('after', '\nExample:\n  svc qr create --name "Counter 1" --multiple-use --image counter.png')
    .action(create)
  remote(qr.command('list'))
    .description('list QR codes of the merchant of a profile, newest first')
    .option('--status <status>', 'only these: ACTIVE or CANCELLED')
    .option('--reference <text>', 'only the code of this reference')
    .option('--limit <count>', 'how many', readCount, 50)
    .addHelpText('after', '\nExample:\n  svc qr list --status ACTIVE')
    .action(list)
  remote(qr.command('show <qrCodeId>'))
    .description('show a QR code of the merchant of a profile')
    .option('--image <file>', 'write the image there, as PNG')
    .addHelpText('after', '\nExample:\n  svc qr show qr_… --image code.png')
    .action(async (qrCodeId: string, options: CreateOptions) => {
      const session = await openProfile(options, 'merchant')
      await print(await session.call<QrCode>('GET', pathOf(qrCodeId)), options)
    })
  remote(qr.command('cancel <qrCodeId>'))
    .description('cancel a QR code of the merchant of a profile; it accepts no payment after that')
    .option('--reason <text>', 'why; shown with the code from then on')
    .addHelpText('after', '\nExample:\n  svc qr cancel qr_… --reason "the table is free again"')
    .action(async (qrCodeId: string, { reason, ...options }: CancelOptions) => {
      const session = await openProfile(options, 'merchant')
      await print(
        await session.call<QrCode>(
          'PATCH',
          `${pathOf(qrCodeId)}/cancel`,
          reason === undefined ? {} : { reason },
        ),
        options,
      )
    })
}

async function create(options: CreateOptions): Promise<void> {
  const { name, amount, fixed, minimum, multipleUse, expiry, reference, description } = options
  const session = await openProfile(options, 'merchant')
  const request = {
    ...(name !== undefined && { qrName: name }),
    ...(amount !== undefined && { amount }),
    ...(fixed && { fixedAmount: true }),
    ...(minimum !== undefined && { minimumAmount: minimum }),
    ...(multipleUse && { multipleUse: true }),
    ...(expiry !== undefined && { expiry }),
    ...(reference !== undefined && { referenceNumber: reference }),
    ...(description !== undefined && { description }),
  }
  await print(await session.call<QrCode>('POST', PATH, request), options)
}

async function print(code: QrCode, { json, image }: RemoteOptions & { image?: string }): Promise<void> {
  if (image !== undefined && code.qrCodeBase64 !== undefined)
    await writeFile(image, Buffer.from(code.qrCodeBase64, 'base64'))
  if (json) printJson(code)
  else printRecord(flat(code), false)
}

interface ListOptions extends RemoteOptions {
  readonly status?: string
  readonly reference?: string
  readonly limit: number
}

async function list(options: ListOptions): Promise<void> {
  const { status, reference, limit, json = false } = options
  const session = await openProfile(options, 'merchant')
  const filters = {
    limit,
    ...(status !== undefined && { status }),
    ...(reference !== undefined && { referenceNumber: reference }),
  }
  const { data } = await session.call<{ data: readonly object[] }>('POST', `${PATH}/search`, filters)
  if (json) return printJson(data)
  printRows(data.map(flat), false)
}
