import { inBrowser } from './bed.ts'
import { tasksOfAssignments, tasksOfBankFiles, tasksOfPayouts, tasksOfUnmatched } from './money-tasks.ts'
import { leftSetUp, tasksOfAdmins, tasksOfOnboarding } from './onboarding.ts'
import { cardsOfPartners, tasksOfMerchants, tasksOfPartners } from './portal-tasks.ts'
import { tasksOfFinance, tasksOfOperations, tasksOfOthers, tasksOfReports, tasksOfSupport } from './tasks.ts'

inBrowser('the tasks of the console', {
  filled: [
    tasksOfSupport,
    tasksOfFinance,
    tasksOfReports,
    tasksOfBankFiles,
    tasksOfPayouts,
    tasksOfAssignments,
    tasksOfUnmatched,
    tasksOfOperations,
    tasksOfAdmins,
    tasksOfOnboarding,
    leftSetUp,
    tasksOfOthers,
    tasksOfMerchants,
    tasksOfPartners,
    cardsOfPartners,
  ],
})
