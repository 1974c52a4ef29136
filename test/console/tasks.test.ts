import { inBrowser } from './bed.ts'
import { leftSetUp, tasksOfAdmins } from './onboarding.ts'
import { tasksOfFinance, tasksOfOperations, tasksOfOthers, tasksOfSupport } from './tasks.ts'

inBrowser('the tasks of the console', {
  filled: [tasksOfSupport, tasksOfFinance, tasksOfOperations, tasksOfAdmins, leftSetUp, tasksOfOthers],
})
