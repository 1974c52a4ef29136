import { inBrowser } from './bed.ts'
import { leftSetUp, tasksOfAdmins } from './onboarding.ts'
import { tasksOfMerchants, tasksOfPartners } from './portal-tasks.ts'
import { tasksOfFinance, tasksOfOperations, tasksOfOthers, tasksOfReports, tasksOfSupport } from './tasks.ts'

inBrowser('the tasks of the console', {
  filled: [
    tasksOfSupport,
    tasksOfFinance,
    tasksOfReports,
    tasksOfOperations,
    tasksOfAdmins,
    leftSetUp,
    tasksOfOthers,
    tasksOfMerchants,
    tasksOfPartners,
  ],
})
