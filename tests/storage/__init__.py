"""The store on SQLite and PostgreSQL: transactions, repositories, migrations, backups."""
