import { showFundingInstructions } from '@svc/console-api/faces/bank-credit-operations'
import {
  fundCardAccountInConsole,
  withdrawFromCardAccountInConsole,
} from '@svc/console-api/faces/card-account-money'
import {
  createCardAccountInConsole,
  updateCardAccountInConsole,
} from '@svc/console-api/faces/card-account-operations'
import { createCompanyInConsole, updateCompanyInConsole } from '@svc/console-api/faces/company-operations'
import { createUserInConsole, eraseUserInConsole } from '@svc/console-api/faces/user-operations'
import { cardAccount, type ListedAccount } from '@svc/server/cards/card-accounts'
import { company, type ListedCompany } from '@svc/server/tenants/companies'
import { type ListedUser, user } from '@svc/server/tenants/users'
import type { Command } from 'commander'
import { addNounList, addNounShow } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'

export function addCompanyCommands(program: Command): void {
  const group = program.command('company').description('companies: the customers of partners')
  addOperation(group, createCompanyInConsole, {
    name: 'create',
    by: ['partnerId'],
    example: 'svc admin company create par_… --name "Acme Industries Private Limited"',
  })
  addNounList<ListedCompany>(group, company, {
    by: 'partnerId',
    description: 'list the companies of a partner, or all, newest first',
    example: 'svc admin company list par_…',
  })
  addNounShow<ListedCompany>(group, company, {
    id: 'companyId',
    description: 'show a company',
    example: 'svc admin company show com_…',
  })
  addOperation(group, updateCompanyInConsole, {
    name: 'update',
    example: 'svc admin company update com_… --name "Acme Industries Limited"',
  })
}

export function addUserCommands(program: Command): void {
  const group = program.command('user').description('users: employees of companies, who hold the cards')
  addOperation(group, createUserInConsole, {
    name: 'create',
    by: ['companyId'],
    example: 'svc admin user create com_… --first-name Asha --last-name Rao --mobile 9876543210',
  })
  addNounList<ListedUser>(group, user, {
    by: 'companyId',
    description: 'list the users of a company, or of all, newest first',
    example: 'svc admin user list com_…',
  })
  addNounShow<ListedUser>(group, user, {
    id: 'userId',
    description: 'show a user',
    example: 'svc admin user show usr_…',
  })
  addOperation(group, eraseUserInConsole, {
    name: 'erase',
    description:
      'erase the personal data of a user for good; cards must be ended and empty, and no coins left',
    example: 'svc admin user erase usr_… --reason "asked by letter of 2026-11-02"',
  })
}

export function addCardAccountCommands(program: Command): void {
  const account = program
    .command('card-account')
    .description('card accounts: what the cards of a company are funded from')
  addOperation(account, createCardAccountInConsole, {
    name: 'create',
    by: ['companyId'],
    description: 'open a card account, empty',
    flags: {
      accountType: { value: 'GIFT' },
      binType: { value: 'GIFT' },
      cardProgramme: { value: 'Gift cards' },
      denomination: { value: 500 },
    },
    example: 'svc admin card-account create com_… --product incentive --denomination 1000',
  })
  addNounList<ListedAccount>(account, cardAccount, {
    by: 'companyId',
    description: 'list the card accounts of a company, or of all, newest first',
    example: 'svc admin card-account list com_…',
  })
  addNounShow<ListedAccount>(account, cardAccount, {
    id: 'cardAccountId',
    description: 'show a card account, with what it has left',
    example: 'svc admin card-account show acc_…',
  })
  addOperation(account, updateCardAccountInConsole, {
    name: 'update',
    sets: true,
    description: 'change what its partner may set on a card account, and what the records of its cards say',
    example:
      'svc admin card-account update acc_… --set unallocateFundAllowed=true --set svcSupportEmail=help@acme.example',
  })
  addOperation(account, fundCardAccountInConsole, {
    name: 'fund',
    description: 'enter money that the partner paid in for the cards of this account',
    flags: { noticeId: { name: 'notice' } },
    example:
      'svc admin card-account fund acc_… --amount 250000.00 --reference AXISN0000000042 --reason "April float"',
  })
  addOperation(account, withdrawFromCardAccountInConsole, {
    name: 'withdraw',
    description: 'enter money that was paid back to the partner, at most what is left on the account',
    example:
      'svc admin card-account withdraw acc_… --amount 1000.00 --reference AXISN0000000043 --reason "unused float"',
  })
  addOperation(account, showFundingInstructions, {
    name: 'instructions',
    description: 'show where the partner transfers money for a card account',
    example: 'svc admin card-account instructions acc_…',
  })
}
