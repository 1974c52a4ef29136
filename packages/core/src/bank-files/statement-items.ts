import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import { FileRejected } from './file-source.ts'

/** What a statement of a bank says, piece by piece, whatever its format. */
export type StatementItem =
  | { readonly is: 'account'; readonly number: string }
  | {
      readonly is: 'opening' | 'closing'
      readonly line: number
      readonly balancePaise: Paise
      /** Absent where the format states none. */
      readonly day: string | undefined
    }
  | StatementEntry

export interface StatementEntry {
  readonly is: 'entry'
  /** Where it begins in the file. */
  readonly line: number
  readonly bookedOn: string
  /** Above zero it is money to us. */
  readonly amountPaise: Paise
  /** Empty where the bank states none. */
  readonly reference: string
  readonly narration: string
  /** Where the format states it for each line. */
  readonly balancePaise: Paise | undefined
}

/** A line of a statement with the balance after it. */
export interface StatementRow extends Omit<StatementEntry, 'is'> {
  readonly balancePaise: Paise
}

/** What a statement says as a whole. */
export interface StatementSummary {
  readonly openingPaise: Paise
  readonly closingPaise: Paise
  /** The last day that it is about. */
  readonly through: string | undefined
  readonly lines: number
  /** The number of the account, in digits and capitals, where the file states one. */
  readonly accountNumber: string | undefined
}

/** Longer texts of banks are cut. */
export const REFERENCE_CHARS_MAX = 64
export const NARRATION_CHARS_MAX = 500

/** Follows the balances through a statement. Throws `FileRejected` where one does not follow, with its line. */
export class StatementWalk {
  #opening: Paise | undefined
  #balance = paise(0n)
  #through: string | undefined
  #lines = 0
  #number: string | undefined

  /** The line of an entry; `undefined` for what says only what the balance is. */
  next(item: StatementItem): StatementRow | undefined {
    if (item.is === 'account') return this.#account(item.number)
    if (item.is === 'entry') return this.#entry(item)
    if (item.is === 'opening') this.#opening ??= this.#begin(item.balancePaise)
    if (this.#opening === undefined || item.balancePaise !== this.#balance)
      throw notFollowing(item.line, `the ${item.is} balance`, item.balancePaise, this.#balance)
    // An opening balance says where the statement begins, not how far it reaches.
    if (item.is === 'closing') this.#reach(item.day)
  }

  get summary(): StatementSummary {
    if (this.#opening === undefined) throw new FileRejected('The statement has no lines and no balances')
    return {
      openingPaise: this.#opening,
      closingPaise: this.#balance,
      through: this.#through,
      lines: this.#lines,
      accountNumber: this.#number,
    }
  }

  #begin(balance: Paise): Paise {
    this.#balance = balance
    return balance
  }

  #account(number: string): undefined {
    if (this.#number !== undefined && this.#number !== number)
      throw new FileRejected(
        'The file has statements of several accounts. Import those of each account alone',
      )
    this.#number = number
  }

  #entry({ is: _is, balancePaise: stated, ...entry }: StatementEntry): StatementRow {
    if (this.#opening === undefined) {
      if (stated === undefined)
        throw new FileRejected(`Line ${entry.line}: there is no opening balance before it`)
      this.#opening = this.#begin(paise(stated - entry.amountPaise))
    }
    const balancePaise = paise(this.#balance + entry.amountPaise)
    if (stated !== undefined && stated !== balancePaise)
      throw notFollowing(entry.line, 'the balance', stated, balancePaise)
    if (this.#through !== undefined && entry.bookedOn < this.#through)
      throw new FileRejected(
        `Line ${entry.line} is of ${entry.bookedOn}, after lines of ${this.#through}. Lines must be in the order of their days, oldest first`,
      )
    this.#balance = balancePaise
    this.#lines++
    this.#reach(entry.bookedOn)
    return { ...entry, balancePaise }
  }

  #reach(day: string | undefined): void {
    if (day !== undefined && (this.#through === undefined || day > this.#through)) this.#through = day
  }
}

const notFollowing = (line: number, what: string, stated: bigint, expected: bigint): FileRejected =>
  new FileRejected(
    `Line ${line}: ${what} is ${formatRupees(stated)}, and the lines before it add up to ${formatRupees(expected)}. A line is missing or changed: export the statement again`,
  )
