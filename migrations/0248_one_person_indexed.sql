-- run: statement by statement
drop index concurrently if exists one_person_postings_of_all_tenants;
create index concurrently one_person_postings_of_all_tenants on one_person_postings (person, posted_at);
