import {
  FEE_BASIS_POINTS_MAX,
  FEE_FIXED_MAX_PAISE,
  feeDaysOf,
  findPayoutDetails,
  isAccountNumber,
  isGstState,
  isIfsc,
  listMerchantFees,
  setMerchantFee,
  setPayoutDetails,
} from '@svc/core/payments/payouts/payout-terms'
import { formatRupees, paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import type { Tx } from '@svc/platform/db/database'
import { type Command, InvalidArgumentError } from 'commander'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { readDay } from './payout-print.ts'
import { printRecord, printRows } from './print.ts'
import { requireMerchant } from './require-merchant.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

export function addPayoutTermsCommands(payout: Command): void {
  payout
    .command('account <merchantId>')
    .description('set the bank account that a merchant is paid to; without options, show it')
    .option('--holder <name>', 'the name of its holder')
    .option('--number <digits>', 'the account number, 6 to 18 digits')
    .option('--ifsc <code>', 'the code of the branch')
    .option('--gst-state <code>', 'GST state code of the merchant; without it, taxed within one state')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin payout account mer_… --holder "Corner Shop" --number 000012345678 --ifsc HDFC0000001 --gst-state 29',
    )
    .action(account)
  payout
    .command('fee <merchantId>')
    .description('set what a merchant is charged for each payment, from a day on; without options, list it')
    .option('--percent <percent>', 'of the amount, at most two decimals', readBasisPoints)
    .option('--fixed <rupees>', 'in addition, for each payment', readFixed)
    .option(
      '--from <day>',
      'the first business day; by default today, or the next one where today has payments',
      readDay,
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin payout fee mer_… --percent 1.8 --fixed 2 --from 2026-05-01',
    )
    .action(fee)
}

/** Where the money of a merchant goes and what it costs is changed as money is moved: in an operator's name. */
const inNameOf = <T>(isChange: boolean, work: (tx: Tx, context: CommandContext) => Promise<T>): Promise<T> =>
  withInstallation(async (context) => {
    const by = isChange ? { actor: await moneyActor(context) } : undefined
    return context.database.operate((tx) => work(tx, context), 'read committed', by)
  })

interface AccountOptions extends Json {
  readonly holder?: string | undefined
  readonly number?: string | undefined
  readonly ifsc?: string | undefined
  readonly gstState?: string | undefined
}

async function account(
  merchantId: string,
  { holder, number, ifsc, gstState, json = false }: AccountOptions,
): Promise<void> {
  const isSet = [holder, number, ifsc, gstState].some((given) => given !== undefined)
  const details = await inNameOf(isSet, async (tx) => {
    await requireMerchant(tx, merchantId)
    if (isSet) await setPayoutDetails(tx, { merchantId, ...checked({ holder, number, ifsc, gstState }) })
    return findPayoutDetails(tx, merchantId)
  })
  if (!details) throw new UsageError('The merchant has no bank account. Give --holder, --number and --ifsc.')
  const { accountHolder, accountNumber, gstState: state, updatedAt } = details
  printRecord(
    {
      merchantId,
      accountHolder,
      accountEnds: accountNumber.slice(-4),
      ifsc: details.ifsc,
      gstState: state,
      updatedAt,
    },
    json,
  )
}

function checked({ holder = '', number = '', ifsc = '', gstState }: Omit<AccountOptions, 'json'>) {
  const problems = [
    ...(holder.trim().length >= 1 && holder.length <= 100 ? [] : ['--holder must have 1 to 100 characters']),
    ...(isAccountNumber(number) ? [] : ['--number must be 6 to 18 digits']),
    ...(isIfsc(ifsc) ? [] : ['--ifsc must be four letters, a zero and six letters or digits']),
    ...(gstState === undefined || isGstState(gstState) ? [] : ['--gst-state must be two digits']),
  ]
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return { accountHolder: holder, accountNumber: number, ifsc, gstState: gstState ?? null }
}

function readBasisPoints(text: string): number {
  const basisPoints = valueIn(readAmount(text))
  if (basisPoints === undefined || basisPoints > FEE_BASIS_POINTS_MAX)
    throw new InvalidArgumentError('It must be from 0 to 100, with at most two decimals.')
  return Number(basisPoints)
}

function readFixed(text: string) {
  const fixed = valueIn(readAmount(text))
  if (fixed === undefined || fixed > FEE_FIXED_MAX_PAISE)
    throw new InvalidArgumentError('It must be rupees from 0 to 1000, with at most two decimals.')
  return fixed
}

interface FeeOptions extends Json {
  readonly percent?: number
  readonly fixed?: ReturnType<typeof readFixed>
  readonly from?: string
}

async function fee(merchantId: string, { percent, fixed, from, json = false }: FeeOptions): Promise<void> {
  const isSet = percent !== undefined || fixed !== undefined
  const fees = await inNameOf(isSet, async (tx, { clock, config }) => {
    await requireMerchant(tx, merchantId)
    const fee = {
      merchantId,
      validFrom: from,
      basisPoints: percent ?? 0,
      fixedPaise: fixed ?? paise(0n),
    }
    if (isSet) await setMerchantFee(tx, fee, { ...feeDaysOf({ clock, config }, merchantId), field: '--from' })
    return listMerchantFees(tx, merchantId)
  })
  printRows(
    fees.map(({ validFrom, basisPoints, fixedPaise }) => ({
      merchantId,
      from: validFrom,
      percent: formatRupees(BigInt(basisPoints)),
      fixed: formatRupees(fixedPaise),
    })),
    json,
  )
}
