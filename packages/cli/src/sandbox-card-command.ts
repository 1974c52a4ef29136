import { ADVICES, MESSAGE_TYPES, NETWORK_CHANNELS } from '@svc/core/cards/rail/card-message'
import { type Command, Option } from 'commander'
import { printJson, printRows } from './print.ts'
import { readRupees } from './read-rupees.ts'
import { readSandbox, TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

interface MessageOptions {
  readonly amount?: number
  readonly channel?: string
  readonly advice?: string
  readonly authorization?: string
  readonly capture?: string
  readonly final?: boolean
  readonly merchant?: string
  readonly behaviour?: string
  readonly json?: boolean
}

interface Sent {
  readonly messages: readonly {
    readonly type: string
    readonly status: number
    readonly response: Readonly<Record<string, string | number | undefined>>
  }[]
}

export function addSandboxCardCommand(sandbox: Command): void {
  sandbox
    .command('card')
    .description('play the card network: send a signed message for a card to the card rail')
    .argument('<svcCardId>', 'the card')
    .argument('<type>', MESSAGE_TYPES.join(', '))
    .option('--amount <rupees>', 'the amount, such as 249.50', readRupees)
    .addOption(new Option('--channel <channel>', 'of authorisations').choices([...NETWORK_CHANNELS]))
    .addOption(new Option('--advice <kind>', 'of advices').choices([...ADVICES]))
    .option('--authorization <authorizationId>', 'of captures, voids and advices')
    .option('--capture <messageId>', 'of refunds')
    .option('--final', 'of captures: release what is left of the hold')
    .option('--merchant <name>', 'name of the merchant')
    .addOption(
      new Option('--behaviour <what>', 'what goes wrong on the way').choices([
        'normal',
        'duplicate',
        'timeout',
        'reordered',
      ]),
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc sandbox card card_… authorization --amount 100 --behaviour timeout',
    )
    .action(sendMessage)
}

async function sendMessage(svcCardId: string, type: string, options: MessageOptions): Promise<void> {
  if (!MESSAGE_TYPES.some((known) => known === type))
    throw new UsageError(`The type must be one of ${MESSAGE_TYPES.join(', ')}`)
  const {
    amount,
    channel,
    advice,
    authorization,
    capture,
    final,
    merchant,
    behaviour,
    json = false,
  } = options
  const sandbox = await readSandbox()
  const session = new TenantSession(sandbox.baseUrl, sandbox.incentivePartner)
  const sent = await session.call<Sent>('POST', `/sandbox/cards/${encodeURIComponent(svcCardId)}/messages`, {
    type,
    amount,
    channel,
    advice,
    authorizationId: authorization,
    captureId: capture,
    final,
    merchantName: merchant,
    behaviour,
  })
  if (json) return printJson(sent)
  printRows(
    sent.messages.map(({ type: sentType, status, response }) => ({
      type: sentType,
      http: status,
      status: response['status'],
      responseCode: response['responseCode'],
      reason: response['reason'],
      messageId: response['messageId'],
      authorizationId: response['authorizationId'],
      otbBalance: response['otbBalance'],
    })),
    false,
  )
}
