import { inBrowser } from './bed.ts'
import { leftSetUp, tasksOfAdmins } from './onboarding.ts'
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
  ],
})
