import type { Database } from './database.ts'
import { statement } from './statement.ts'

/** Which cell a database is (decision X40); empty where the installation has one database. */
export interface Home {
  /** A letter, which what it issues contains. */
  readonly cell?: string
  /** Leading digits of the card numbers that it issues. */
  readonly cardRange?: string
}

const HOME = statement<{ cell: string | null; cardRange: string | null }>(
  'installation_home',
  'select cell, card_range as "cardRange" from installation',
)

export async function readHome(database: Database): Promise<Home> {
  const { cell, cardRange } = (await database.directory(HOME, [], 'silence'))[0]!
  return cell === null || cardRange === null ? {} : { cell, cardRange }
}
