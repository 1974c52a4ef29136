import {
  createBankAccountInConsole,
  listBankAccountsInConsole,
} from '@svc/console-api/faces/bank-statement-operations'
import type { Command } from 'commander'
import { addOperation } from './operation-command.ts'

export function addBankAccountCommands(program: Command): void {
  const group = program
    .command('bank-account')
    .description('our accounts at banks: the escrow of merchants, the escrow of cards, our funds')
  addOperation(group, createBankAccountInConsole, {
    name: 'create',
    description: 'create an account; a purpose has at most two',
    example:
      'svc admin bank-account create --purpose merchant_escrow --name "Escrow of merchants" --number 50100012345678 --ifsc HDFC0000123 --opening 0.00 --from 2026-04-01',
  })
  addOperation(group, listBankAccountsInConsole, {
    name: 'list',
    rows: true,
    description: 'list the accounts; of their numbers, the last four digits',
    example: 'svc admin bank-account list',
  })
}
