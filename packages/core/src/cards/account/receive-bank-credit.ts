import { ByTenant } from '@svc/kernel/by-tenant'
import { paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import { statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { accountId, lockAccounts } from '../../ledger/accounts.ts'
import { BankEntries, type BankEntry, nextEntry } from '../../ledger/bank-entries.ts'
import { journalOf, saveJournals } from '../../ledger/journals.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import type { QuarantineReason, StatedField } from '../../rails/quarantine-reason.ts'
import { noticeDigest, notNew, type RailNotice, storeNotices } from '../../rails/rail-notice.ts'
import { asStored, type StoredNotices, storedNotices } from '../../rails/stored-notices.ts'
import { Homes, type Origin } from '../../tenants/homes.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { type BankCredit, bankCredits } from './bank-credit.ts'
import { fundingAccounts, fundingTransfer } from './card-account.ts'
import { fundedEvent } from './funded-event.ts'
import { type OwnedAccount, ownedAccounts } from './owned-accounts.ts'
import { type BankTransfer, contradiction, type ReadTransferNotice } from './transfer-notice.ts'

/** A signed notice with what can be read of it. */
interface ReceiveBankCreditArgs extends Origin {
  readonly notice: Buffer
  readonly read: ReadTransferNotice
}

interface Prepared extends PreparedCommand {
  readonly args: ReceiveBankCreditArgs
  readonly transfer: BankTransfer | undefined
  readonly digest: Buffer
  /** `null` for a number that no card account has. */
  readonly cardAccountId: string | null
  readonly ids: { readonly credit: string; readonly transfer: string; readonly event: string }
  readonly timeZone: string
}

type Known = BankCredit & { readonly noticeDigest: Buffer }

interface State {
  readonly accounts: Map<string, OwnedAccount>
  readonly balances: Map<string, bigint>
  /** By reference, and the same for all tenants: one reference names one transfer. */
  readonly known: Map<string, Known>
  readonly entered: BankEntries
  readonly stored: StoredNotices
}

/** What is written for a transfer that was not entered before. */
interface Booked {
  readonly transfer: Transfer
  readonly entry: string
  readonly companyId: string
  readonly balancePaise: bigint
}

interface Received {
  /** Absent when the notice went to quarantine. */
  readonly credit: Known | undefined
  readonly isNew: boolean
  readonly booked: Booked | undefined
  readonly kept: RailNotice | undefined
  readonly command: Prepared
}

interface DirectoryRow {
  readonly number: string
  readonly partnerId: string
  readonly cardAccountId: string
}
const NUMBERS = statement<DirectoryRow>(
  'directory_virtual_accounts',
  'select number, partner_id as "partnerId", card_account_id as "cardAccountId" from directory_virtual_accounts($1)',
)
const KNOWN = statement<Known>(
  'directory_bank_credits',
  `select ${bankCredits.columns}, sha256(b.notice) as "noticeDigest" from directory_bank_credits($1) b`,
)

/**
 * Credits a transfer that the bank reports to the card account that its virtual account number names (decision R15). What
 * an operator entered before under its reference is not credited again; what cannot be read, names no account or
 * contradicts what is recorded goes to quarantine (decision Q11).
 */
export const receiveBankCredit = command({
  name: 'receiveBankCredit',
  isSigned: true,

  prepare({ config, database, newId }) {
    const homes = new Homes(database)
    const accounts = new BatchedLookup<DirectoryRow>(
      (keys) => database.directory(NUMBERS, [keys.map(({ id }) => id)]),
      ({ number }) => ({ tenantId: '', id: number }),
    )
    return async (args: ReceiveBankCreditArgs): Promise<Prepared> => {
      const transfer = 'transfer' in args.read ? args.read.transfer : undefined
      const account = transfer && (await accounts.get('', transfer.virtualAccount))
      if (transfer && !account) await homes.requireNotMoved('virtual_account', transfer.virtualAccount, args)
      return {
        args,
        transfer,
        digest: noticeDigest(args.notice),
        tenantId: account?.partnerId ?? PLATFORM_TENANT,
        cardAccountId: account?.cardAccountId ?? null,
        ids: { credit: newId('bcr'), transfer: newId('trf'), event: newId('evt') },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    }
  },

  lock,
  decide: (state, command, now) => asStored(state.stored, decide(state, command, now)),

  apply({ balances, known, entered }, { credit, isNew, booked }) {
    if (!credit || !isNew) return
    known.set(credit.utr, credit)
    if (!booked) return
    balances.set(booked.transfer.creditAccountId, booked.balancePaise)
    const { journalId, utr: reference } = credit
    entered.add({ ...booked.transfer, reference, journalId, isReversed: false })
  },

  save(tx, decisions) {
    // Before the journals: the database lets what the bank reported pass without an approval (decision R10).
    bankCredits.insert(
      tx,
      decisions.flatMap(({ credit, isNew, command: { args } }) =>
        credit && isNew ? [{ ...credit, notice: args.notice }] : [],
      ),
    )
    const booked = decisions.flatMap(({ booked, credit, command }) =>
      booked && credit ? [{ ...booked, credit, command }] : [],
    )
    saveJournals(
      tx,
      decisions[0]!.command.timeZone,
      booked.map(({ transfer, entry }) => journalOf(transfer, entry)),
    )
    saveEvents(
      tx,
      booked.map(
        ({ transfer: { transferId }, companyId, balancePaise, credit, command: { ids, timeZone } }) =>
          fundedEvent('card_account.funded', {
            ...credit,
            eventId: ids.event,
            reference: credit.utr,
            transferId,
            companyId,
            balancePaise,
            timeZone,
          }),
      ),
    )
    storeNotices(
      tx,
      decisions.flatMap(({ kept }) => kept ?? []),
    )
  },
})

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const keys = commands.flatMap(({ tenantId: partnerId, cardAccountId }) =>
    cardAccountId === null ? [] : [{ partnerId, cardAccountId }],
  )
  const utrs = commands.flatMap(({ transfer }) => transfer?.utr ?? [])
  // In this order: a transaction that holds the ledger accounts sees what others have entered.
  const [balances, accounts, rows, entered, stored] = await Promise.all([
    lockAccounts(tx, keys.flatMap(fundingAccounts)),
    ownedAccounts(tx, keys),
    tx.query(KNOWN, [utrs]),
    BankEntries.readIncoming(tx, utrs),
    storedNotices(
      tx,
      commands.map(({ tenantId, args: { notice } }) => ({ tenantId, notice })),
      'transfer',
    ),
  ])
  const known = new Map(rows.map((credit) => [credit.utr, credit]))
  return new ByTenant(
    (tenantId): State => ({
      accounts: accounts.of(tenantId),
      balances: balances.of(tenantId),
      known,
      entered,
      stored: stored.of(tenantId),
    }),
  )
}

function decide(state: State, command: Prepared, now: Date): Received {
  const { args, transfer, digest, cardAccountId } = command
  const nothing = { credit: undefined, isNew: false, booked: undefined, kept: undefined, command }
  const toNotice = (
    reason: QuarantineReason | null,
    about: string | null = cardAccountId,
    stated: StatedField = {},
  ): Received => ({ ...nothing, kept: noticeOf(command, { reason, ...stated }, about, now) })
  if (!transfer)
    return 'unreadable' in args.read
      ? toNotice(args.read.unreadable, cardAccountId, args.read)
      : toNotice(null)
  const first = state.known.get(transfer.utr)
  if (first) {
    if (first.noticeDigest.equals(digest)) return { ...nothing, credit: first }
    const other = contradiction(first, transfer)
    return other
      ? toNotice('contradicts_earlier_notice', first.cardAccountId, other)
      : { ...toNotice(null), credit: first }
  }
  const account = cardAccountId === null ? undefined : state.accounts.get(cardAccountId)
  if (!account) return toNotice('unknown_virtual_account')
  if (account.closedAt) return toNotice('partner_closed')
  const standing = state.entered.everywhere(transfer.utr)
  const same = standing.find((funding) => isOf(funding, account, transfer))
  if (standing.length > (same ? 1 : 0)) return toNotice('contradicts_entry')
  if (same) return { ...nothing, credit: creditOf(command, account, transfer, same, now), isNew: true }
  const entry = nextEntry(transfer.utr, state.entered.of(account.partnerId, transfer.utr))
  return entry === undefined
    ? toNotice('contradicts_entry')
    : { ...nothing, isNew: true, ...book(state, command, { account, transfer, entry }, now) }
}

const isOf = (funding: BankEntry, account: OwnedAccount, { amountPaise }: BankTransfer): boolean =>
  funding.tenantId === account.partnerId &&
  funding.objectId === account.cardAccountId &&
  funding.amountPaise === amountPaise

interface ToBook {
  readonly account: OwnedAccount
  readonly transfer: BankTransfer
  readonly entry: string
}

function book(
  { balances }: State,
  command: Prepared,
  { account, transfer: reported, entry }: ToBook,
  now: Date,
): Pick<Received, 'credit' | 'booked'> {
  const made = { transferId: command.ids.transfer, createdAt: now }
  const transfer = fundingTransfer(account, made, reported.amountPaise)
  const { journalId } = journalOf(transfer)
  const balance = balances.get(accountId('card_funding', account.cardAccountId)) ?? 0n
  const balancePaise = paise(balance + reported.amountPaise)
  return {
    credit: creditOf(command, account, reported, { journalId }, now),
    booked: { transfer, entry, companyId: account.companyId, balancePaise },
  }
}

/** The record of a transfer. `before`: the funding that an operator entered, or else the one that is made now. */
const creditOf = (
  { digest, ids }: Prepared,
  { partnerId, cardAccountId }: OwnedAccount,
  transfer: BankTransfer,
  funding: Pick<BankEntry, 'journalId'> & Partial<BankEntry>,
  now: Date,
): Known => ({
  ...transfer,
  partnerId,
  cardAccountId,
  creditId: ids.credit,
  journalId: funding.journalId,
  enteredBefore: funding.transferId !== undefined,
  noticeDigest: digest,
  createdAt: now,
})

const noticeOf = (
  { args, tenantId, transfer }: Prepared,
  { reason, field, detail }: StatedField & { readonly reason: QuarantineReason | null },
  cardAccountId: string | null,
  now: Date,
): RailNotice =>
  notNew(
    {
      tenantId,
      body: args.notice,
      reason,
      field,
      detail,
      utr: transfer?.utr ?? ('unreadable' in args.read ? args.read.utr : undefined),
      cardAccountId,
      flags: [...(transfer?.flags ?? []), 'transfer_notice'],
      rail: 'bank',
    },
    now,
  )
